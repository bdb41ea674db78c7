import { LRUCache } from 'lru-cache'

/** At most so many values by name; the one that was used least recently goes first. */
interface RecentlyUsed<Value> {
  get(name: string): Value | undefined
  set(name: string, value: Value): void
  delete(name: string): void
}

/** A Map would do, but to find its oldest entry V8 walks over all that were deleted before it. */
export function createRecentlyUsed<Value extends object | number>(
  most: number,
  onDropped?: (value: Value) => void,
): RecentlyUsed<Value> {
  const kept = new LRUCache<string, Value>({
    // Not `max`, for which the room is taken at once: megabytes in a gateway that counts nothing.
    maxSize: most,
    sizeCalculation: () => 1,
    ...(onDropped !== undefined && { dispose: onDropped }),
  })

  return {
    get: (name) => kept.get(name),
    set: (name, value) => void kept.set(name, value),
    delete: (name) => void kept.delete(name),
  }
}
