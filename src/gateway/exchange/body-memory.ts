/** The memory that beginnings of request bodies take until there is a connection for them. */
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
