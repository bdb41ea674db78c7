import { Worker } from 'node:worker_threads'
import { Fault } from '../errors.ts'

/** What a thread is asked. */
export interface Comparison {
  readonly password: Uint8Array
  readonly hash: string
}

interface HashingThreads {
  /** Whether the password belongs to the hash. A Fault when the thread died over it. */
  compare(comparison: Comparison): Promise<boolean>
  close(): Promise<void>
}

/**
 * Threads of our own for bcrypt, as many as comparisons are under way, started when they are needed
 * and kept. On the pool that Node shares they would compete with name look-ups, and everywhere
 * with the event loop: these have a lower priority, so that people who log in do not slow down
 * those who have.
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

/** Under the ending that this file has, in the source and in what is built from it. */
const file = new URL(import.meta.url.replace('hashing-threads', 'password-worker'))

/** On a machine that has no time to spare, a thread of the lowest priority gets next to none. */
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
