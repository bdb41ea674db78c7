import { Worker } from 'node:worker_threads'
import { Fault } from '../errors.ts'

export interface Comparison {
  readonly password: Uint8Array
  readonly hash: string
}

interface HashingThreads {
  /** Whether the password matches the hash. Throws a Fault when the thread died. */
  compare(comparison: Comparison): Promise<boolean>
  close(): Promise<void>
}

/**
 * Own threads for bcrypt, one per comparison in progress, started on demand and kept. On Node's pool
 * they would delay DNS lookups. Their low priority keeps logins from slowing down forwarded requests.
 */
export function createHashingThreads(): HashingThreads {
  const threads = new Set<Worker>()
  const idle: Worker[] = []

  function start(): Worker {
    const thread = new Worker(file)
    threads.add(thread)
    return thread
  }

  async function compare(comparison: Comparison): Promise<boolean> {
    const thread = idle.pop() ?? start()
    thread.ref()
    const answer = await answerOf(thread, comparison)
    thread.unref()
    if (typeof answer === 'boolean') {
      idle.push(thread)
      return answer
    }
    threads.delete(thread)
    void thread.terminate()
    throw answer
  }

  return {
    compare,
    async close() {
      await Promise.all([...threads].map((thread) => thread.terminate()))
    },
  }
}

/** With the extension of this file: `.ts` in the source, `.js` in the build. */
const file = new URL(import.meta.url.replace('hashing-threads', 'password-worker'))

/** On a saturated machine a thread of low priority may wait long for CPU. */
const longestMs = 30_000

function answerOf(thread: Worker, comparison: Comparison): Promise<boolean | Fault> {
  return new Promise((resolve) => {
    const fail = (reason: string, cause?: unknown) => {
      clearTimeout(timer)
      resolve(new Fault('password-check', { cause, reason }))
    }
    const died = (cause?: unknown) => fail('a hashing thread died', cause)
    const timer = setTimeout(fail, longestMs, 'password check timed out')
    thread.removeAllListeners()
    thread.once('message', (matches: boolean) => {
      clearTimeout(timer)
      resolve(matches)
    })
    thread.once('error', died)
    thread.once('exit', () => died())
    thread.postMessage(comparison)
  })
}
