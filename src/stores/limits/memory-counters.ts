import { createLru } from '../../kernel/lru.ts'
import type { AlsoDone, Counted, Hit } from '../../login/throttle.ts'
import { type CounterState, countHit } from './counter-state.ts'

interface MemoryCounterOptions {
  /** How many keys are kept, and how many marks. */
  readonly maxKeys?: number
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
}

export type MemoryCounters = ReturnType<typeof createMemoryCounters>

/**
 * Counters of one process. At most `maxKeys` are kept; the least recently hit is dropped first, so a
 * key under attack stays counted.
 */
export function createMemoryCounters(options: MemoryCounterOptions = {}) {
  const { maxKeys = 50_000, now = () => performance.now() } = options
  const counters = createLru<CounterState>(maxKeys)
  /** When each mark expires. */
  const marks = createLru<number>(maxKeys)

  function isMarked(key: string): boolean {
    return now() < (marks.get(key) ?? 0)
  }

  function mark(key: string, seconds: number): void {
    marks.set(key, now() + seconds * 1000)
  }

  function takeBack(hits: readonly Hit[], also: AlsoDone | undefined): void {
    for (const { key } of hits) {
      const state = counters.get(key)
      if (state !== undefined) counters.set(key, { ...state, hits: Math.max(0, state.hits - 1) })
    }
    if (also === undefined) return
    counters.delete(also.clear)
    if (also.mark.seconds > 0) mark(also.mark.key, also.mark.seconds)
  }

  return {
    isMarked,
    mark,
    /** Forgets the hits and lock-outs under a key. */
    forget: (key: string) => counters.delete(key),
    async hit(hits: readonly Hit[]): Promise<Counted> {
      const at = now()
      const applicable = hits.filter(({ unless }) => unless === undefined || !isMarked(unless))
      const found = applicable.map(({ key, limit }) => ({
        key,
        ...countHit(counters.get(key), limit, at),
      }))
      const lockoutMs = Math.max(0, ...found.map((one) => one.lockoutMs))
      for (const { key, state, lockoutMs: own } of found) {
        if (lockoutMs === 0 || own > 0) counters.set(key, state)
      }
      const counted = lockoutMs === 0 ? applicable : []
      return {
        lockedOutSeconds: Math.ceil(lockoutMs / 1000),
        began: found
          .filter((one) => one.began)
          .map(({ key, lockoutMs: own, state }) => {
            return { key, lockoutMs: own, lockouts: state.lockouts }
          }),
        takeBack: async (also) => takeBack(counted, also),
      }
    },
  }
}
