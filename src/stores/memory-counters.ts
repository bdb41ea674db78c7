import type { AlsoDone, Counted, Counters, Hit } from '../login/throttle.ts'
import { type CounterState, countHit } from './counter-state.ts'

export interface MemoryCounterOptions {
  /** How many keys are kept, and how many marks. */
  readonly maxKeys?: number
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
}

export interface MemoryCounters extends Counters {
  isMarked(key: string): boolean
  mark(key: string, seconds: number): void
}

/**
 * Counters of one process. At most `maxKeys` are kept whatever clients do, and the one that was
 * hit least recently goes first, so that a key under attack stays counted.
 */
export function createMemoryCounters(options: MemoryCounterOptions = {}): MemoryCounters {
  const { maxKeys = 50_000, now = () => performance.now() } = options
  const counters = createBoundedMap<CounterState>(maxKeys)
  const marks = createBoundedMap<true>(maxKeys)

  function isMarked(key: string): boolean {
    return marks.get(key, now()) === true
  }

  function mark(key: string, seconds: number): void {
    marks.set(key, true, now() + seconds * 1000)
  }

  function takeBack(hits: readonly Hit[], also: AlsoDone | undefined): void {
    for (const { key } of hits) {
      const state = counters.get(key, now())
      if (state !== undefined) counters.change(key, { ...state, hits: Math.max(0, state.hits - 1) })
    }
    if (also === undefined) return
    counters.delete(also.clear)
    if (also.mark.seconds > 0) mark(also.mark.key, also.mark.seconds)
  }

  return {
    isMarked,
    mark,
    async hit(hits): Promise<Counted> {
      const at = now()
      const asked = hits.filter(({ unless }) => unless === undefined || !isMarked(unless))
      const found = asked.map(({ key, limit }) => ({
        key,
        ...countHit(counters.get(key, at), limit, at),
      }))
      const waitMs = Math.max(0, ...found.map((one) => one.waitMs))
      for (const { key, state, keepMs, waitMs: own } of found) {
        if (waitMs === 0 || own > 0) counters.set(key, state, at + keepMs)
      }
      const counted = waitMs === 0 ? asked : []
      return {
        waitSeconds: Math.ceil(waitMs / 1000),
        takeBack: async (also) => takeBack(counted, also),
      }
    },
  }
}

/** Entries with an end, the least recently set first; beyond the bound those go. */
function createBoundedMap<Value>(maxEntries: number) {
  const entries = new Map<string, { readonly value: Value; readonly endsAt: number }>()

  function set(key: string, value: Value, endsAt: number): void {
    entries.delete(key)
    for (const oldest of entries.keys()) {
      if (entries.size < maxEntries) break
      entries.delete(oldest)
    }
    entries.set(key, { value, endsAt })
  }

  return {
    set,
    get(key: string, now: number): Value | undefined {
      const entry = entries.get(key)
      return entry !== undefined && now < entry.endsAt ? entry.value : undefined
    },
    change(key: string, value: Value): void {
      const entry = entries.get(key)
      if (entry !== undefined) set(key, value, entry.endsAt)
    },
    delete: (key: string) => entries.delete(key),
  }
}
