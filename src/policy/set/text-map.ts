/** A map from texts that may hold a million of them. */
interface TextMap<T> {
  readonly get: (text: string) => T | undefined
  readonly set: (text: string, value: T) => void
}

/**
 * One map for the first texts, and many small ones for all that follow: a large one stands still
 * for a tenth of a second whenever it has to grow.
 */
export function createTextMap<T>(): TextMap<T> {
  const first = new Map<string, T>()
  const shards: Map<string, T>[] = []
  const shardFor = (text: string) => shards[shardNumber(text)] as Map<string, T>
  return {
    get(text) {
      const found = first.get(text)
      return found !== undefined || shards.length === 0 ? found : shardFor(text).get(text)
    },
    set(text, value) {
      if (shards.length === 0 || first.has(text)) first.set(text, value)
      else shardFor(text).set(text, value)
      if (first.size < firstCount || shards.length > 0) return
      for (let shard = 0; shard < shardCount; shard++) shards.push(new Map())
    },
  }
}

/** Few enough that growing to it is not noticed; more than the endpoints of most policies. */
const firstCount = 8192
const shardCount = 64

/** A few characters tell enough: the texts of a policy differ in length or in some digit. */
function shardNumber(text: string): number {
  const { length } = text
  let sum = length
  for (let part = 1; part <= 8; part++) sum = sum * 7 + text.charCodeAt((length * part) / 8 - 1)
  return (sum | 0) & (shardCount - 1)
}
