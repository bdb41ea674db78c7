/** Counts the memory of request bodies that are buffered until they get a connection. */
export interface BodyMemory {
  readonly take: (bytes: number) => void
  readonly give: (bytes: number) => void
  readonly isFull: () => boolean
}

export function createBodyMemory(maxBytes: number): BodyMemory {
  let used = 0
  return {
    take(bytes) {
      used += bytes
    },
    give(bytes) {
      used -= bytes
    },
    isFull: () => used >= maxBytes,
  }
}
