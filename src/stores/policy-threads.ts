import { Worker } from 'node:worker_threads'
import { Fault, Invalid } from '../errors.ts'
import { compileFlat } from '../policy/compile.ts'
import type { CompiledPolicies } from '../policy/decision.ts'
import { preparePolicies } from '../policy/prepare.ts'
import type { PolicyOrder, PolicyReply } from './policy-order.ts'
import type { Aside } from './policy-source.ts'

/** From so many bytes on, a policy gets a thread: some 13,000 rules. */
export const largeBytes = 640 * 1024

/** For a machine that has no time to spare; a hundred thousand rules take half a second of work. */
const longestMs = 120_000
/** Pushes come in groups, and a thread that has warmed up needs half the time. */
const keptMs = 60_000

/** A thread at work, and what can be waited for. */
export interface PolicyThread extends Aside {
  /** The checksum of a document, once it is verified. */
  readonly verified: Promise<string>
}

/** Threads of our own that take in large policies. */
export interface PolicyThreads {
  /**
   * Starts one for this order. The signal ends it, unless it is only the snapshot that is missing.
   */
  readonly start: (order: PolicyOrder, signal?: AbortSignal) => PolicyThread
  /** Whether none has died yet: where one does, the next one would as well. */
  readonly usable: () => boolean
  /** Ends the one that waits for another order, and those at work when they are done. */
  readonly close: () => Promise<void>
}

/**
 * A thread that is started when a large policy comes, takes in one after the other, and is kept for a
 * minute after the last. Parsing leaves a hundred megabytes of garbage behind: there it is collected
 * while requests are forwarded, and what comes back is flat memory that only changes hands. The
 * thread has a lower priority than the event loop.
 */
export function createPolicyThreads(): PolicyThreads {
  let usable = true
  let isClosed = false
  let thread: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  /** In the order in which the thread does them. */
  const jobs: Job[] = []

  function openThread(): Worker {
    // What is preloaded for the gateway, and its secrets, stay out of it.
    const opened = new Worker(file, { execArgv: [], env: {} })
    opened.on('message', (reply: PolicyReply) => {
      if (thread !== opened) return
      jobs[0]?.hear(reply)
      if (reply.kind !== 'done') return
      jobs.shift()
      if (jobs.length === 0) rest()
    })
    const died = (cause?: unknown) => {
      if (thread !== opened) return
      usable = jobs.length === 0
      void endThread(new Fault('policies', { cause, reason: 'the thread for policies died' }))
    }
    opened.once('error', died)
    opened.once('exit', () => died())
    return opened
  }

  function rest(): void {
    if (isClosed) return void endThread(undefined)
    thread?.unref()
    timer = setTimeout(endThread, keptMs).unref()
  }

  async function endThread(reason: unknown): Promise<void> {
    const ended = thread
    thread = undefined
    clearTimeout(timer)
    for (const job of jobs.splice(0)) job.settle(reason)
    await ended?.terminate()
  }

  function start(order: PolicyOrder, signal?: AbortSignal): PolicyThread {
    const job = createJob(signal, endThread)
    thread ??= openThread()
    clearTimeout(timer)
    thread.ref()
    jobs.push(job)
    thread.postMessage(order)
    job.watch()
    return job.thread
  }

  return {
    start,
    usable: () => usable,
    async close() {
      isClosed = true
      if (jobs.length === 0) await endThread(undefined)
    },
  }
}

/** One order: what is heard of it, and who waits for that. */
interface Job {
  readonly thread: PolicyThread
  readonly hear: (reply: PolicyReply) => void
  /** Listens to the signal and the clock from now on. */
  readonly watch: () => void
  /** Whatever has not come does not come any more. */
  readonly settle: (reason: unknown) => void
}

function createJob(signal: AbortSignal | undefined, end: (reason: unknown) => unknown): Job {
  const verified = Promise.withResolvers<string>()
  const compiled = Promise.withResolvers<CompiledPolicies | Error>()
  const snapshot = Promise.withResolvers<Uint8Array>()
  let isCompiled = false
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => isCompiled || end(signal?.reason)
  // Whoever does not wait for one of them does not want to hear of it.
  for (const { promise } of [verified, compiled, snapshot]) promise.catch(() => {})

  function settle(reason: unknown): void {
    isCompiled = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    for (const { reject } of [verified, compiled, snapshot]) reject(reason)
  }

  return {
    thread: {
      verified: verified.promise,
      compiled: compiled.promise,
      snapshot: snapshot.promise,
      end: () => isCompiled || end(noSnapshot()),
    },
    hear(reply) {
      switch (reply.kind) {
        case 'verified':
          verified.resolve(reply.checksum)
          break
        case 'snapshot':
          snapshot.resolve(reply.bytes)
          break
        case 'fault':
          verified.reject(new Fault(reply.part, { reason: reply.reason }))
          break
        case 'done':
          settle(noSnapshot())
          break
        default:
          isCompiled = true
          compiled.resolve(resultOf(reply, signal))
      }
    },
    watch() {
      timer = setTimeout(() => end(tooLate()), longestMs)
      signal?.addEventListener('abort', onAbort)
      if (signal?.aborted === true) onAbort()
    },
    settle,
  }
}

const noSnapshot = () => new Fault('policies', { reason: 'no snapshot was made' })
const tooLate = () =>
  new Fault('policies', { reason: 'a policy was not taken in within two minutes' })

/** Under the ending that this file has, in the source and in what is built from it. */
const file = new URL(import.meta.url.replace('policy-threads', 'policy-worker'))

type Result = Extract<PolicyReply, { readonly kind: 'compiled' | 'files' | 'invalid' }>

async function resultOf(
  reply: Result,
  signal: AbortSignal | undefined,
): Promise<CompiledPolicies | Error> {
  if (reply.kind === 'invalid') return new Invalid(reply.problems)
  if (reply.kind === 'compiled') return compileFlat(reply.flat)
  try {
    return await preparePolicies(reply.files, { signal })
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof Error)) throw error
    return error
  }
}
