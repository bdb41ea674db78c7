/** Counts the memory of request bodies that are buffered until they get a connection. */
export type BodyMemory = ReturnType<typeof createBodyMemory>

export function createBodyMemory(maxBytes: number) {
  let used = 0
  return {
    take(bytes: number) {
      used += bytes
    },
    give(bytes: number) {
      used -= bytes
    },
    isFull: () => used >= maxBytes,
  }
}
