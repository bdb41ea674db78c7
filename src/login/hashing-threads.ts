import { type CallableThread, CallTimeout, startCallable } from '../background/thread.ts'
import { Fault } from '../kernel/errors.ts'

export interface Comparison {
  readonly password: Uint8Array
  readonly hash: string
}

/** With the extension of this file: `.ts` in the source, `.js` in the build. */
const file = new URL(import.meta.url.replace('hashing-threads', 'password-worker'))

/** On a saturated machine a thread of low priority may wait long for CPU. */
const longestMs = 30_000

/**
 * Own threads for bcrypt, one per comparison in progress, started on demand and kept. On Node's pool
 * they would delay DNS lookups. Their low priority keeps logins from slowing down forwarded requests.
 */
export function createHashingThreads() {
  const threads = new Set<CallableThread<Comparison, boolean>>()
  const idle: CallableThread<Comparison, boolean>[] = []

  /** Whether the password matches the hash. Throws a Fault when the thread died. */
  async function compare(comparison: Comparison): Promise<boolean> {
    const thread = idle.pop() ?? startCallable<Comparison, boolean>(file)
    threads.add(thread)
    try {
      const matches = await thread.call(comparison, longestMs)
      idle.push(thread)
      return matches
    } catch (error) {
      threads.delete(thread)
      void thread.end()
      const isLate = error instanceof CallTimeout
      const reason = isLate ? 'password check timed out' : 'a hashing thread died'
      throw new Fault('password-check', { cause: (error as Error).cause, reason })
    }
  }

  return {
    compare,
    async close() {
      await Promise.all([...threads].map((thread) => thread.end()))
    },
  }
}
