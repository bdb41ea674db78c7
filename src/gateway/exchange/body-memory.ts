/** Counts the memory of request bodies that are buffered until they get a connection. */
export interface BodyMemory {
  readonly take: (bytes: number) => void
  readonly give: (bytes: number) => void
  readonly isFull: () => boolean
}

export function createBodyMemory(maxBytes: number): BodyMemory {
  let taken = 0
  return {
    take(bytes) {
      taken += bytes
    },
    give(bytes) {
      taken -= bytes
    },
    isFull: () => taken >= maxBytes,
  }
}
