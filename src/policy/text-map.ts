/** A map from texts that may hold a million of them. */
export interface TextMap<T> {
  readonly get: (text: string) => T | undefined
  readonly set: (text: string, value: T) => void
}

/** Many small maps: a large one stands still for a tenth of a second whenever it has to grow. */
export function createTextMap<T>(): TextMap<T> {
  const shards = Array.from({ length: shardCount }, () => new Map<string, T>())
  const shardFor = (text: string) => shards[shardNumber(text)] as Map<string, T>
  return {
    get: (text) => shardFor(text).get(text),
    set: (text, value) => void shardFor(text).set(text, value),
  }
}

const shardCount = 64

/** A few characters tell enough: the texts of a policy differ in length or in some digit. */
function shardNumber(text: string): number {
  const { length } = text
  let sum = length
  for (let part = 1; part <= 8; part++) sum = sum * 7 + text.charCodeAt((length * part) / 8 - 1)
  return (sum | 0) & (shardCount - 1)
}
