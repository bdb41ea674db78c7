import { LRUCache } from 'lru-cache'

/** At most so many values by name; the one that was used least recently goes first. */
export interface RecentlyUsed<Value> {
  get(name: string): Value | undefined
  set(name: string, value: Value): void
  delete(name: string): void
}

/**
 * Made when the first value comes: it takes the room for all of them at once, which is megabytes
 * in a gateway that counts nothing.
 */
export function createRecentlyUsed<Value extends object | number>(
  max: number,
  onDropped?: (value: Value) => void,
): RecentlyUsed<Value> {
  let kept: LRUCache<string, Value> | undefined

  function make(): LRUCache<string, Value> {
    return new LRUCache({ max, ...(onDropped !== undefined && { dispose: onDropped }) })
  }

  return {
    get: (name) => kept?.get(name),
    set(name, value) {
      kept ??= make()
      kept.set(name, value)
    },
    delete(name) {
      kept?.delete(name)
    },
  }
}
