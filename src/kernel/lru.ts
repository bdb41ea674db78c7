import { LRUCache } from 'lru-cache'

/**
 * At most `most` values by name; the least recently used one is dropped first. A Map would do, but to
 * find its oldest entry V8 walks over all entries that were deleted before it.
 */
export function createLru<Value extends object | number>(
  most: number,
  onDropped?: (value: Value) => void,
) {
  const cache = new LRUCache<string, Value>({
    // `max` would allocate everything at once: megabytes in a gateway that counts nothing.
    maxSize: most,
    sizeCalculation: () => 1,
    ...(onDropped !== undefined && { dispose: onDropped }),
  })

  return {
    get: (name: string) => cache.get(name),
    set: (name: string, value: Value) => void cache.set(name, value),
    delete: (name: string) => void cache.delete(name),
  }
}
