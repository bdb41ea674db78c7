import { useLayoutEffect, useState } from 'preact/hooks'

/** A value that components show and follow. */
export interface Store<T> {
  get(): T
  set(value: T): void
  /** Returns what ends the subscription. */
  follow(listener: () => void): () => void
}

export function createStore<T>(first: T): Store<T> {
  const listeners = new Set<() => void>()
  let value = first
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    follow(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(() => store.get())
  // Not after the frame is painted: that would delay what a first answer shows by a frame.
  useLayoutEffect(() => {
    const update = () => setValue(() => store.get())
    // It may have changed between the first render and this effect.
    update()
    return store.follow(update)
  }, [store])
  return value
}
