import { isolated, startThread } from '../../background/thread.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { compileFlat } from '../../policy/engine/compile.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import type { PolicyReply, PolicyTask } from './policy-task.ts'
import { preparedOrRefused } from './prepare-offer.ts'

/** For a machine that has no time to spare; a hundred thousand rules take half a second of work. */
const timeoutMs = 120_000

/**
 * Threads that load large policies. One thread for each large policy, which exits when the policy
 * is loaded. Parsing leaves a hundred megabytes of garbage behind: it goes with the thread, and the
 * result is flat memory that is transferred, not copied. The thread has a lower priority than the
 * event loop. A thread kept for the next policy would load that one faster, but hold the memory of
 * several meanwhile.
 */
export function createPolicyThreads() {
  let usable = true

  /**
   * Starts one for this order. The signal ends it, unless it is only the snapshot that is missing.
   */
  function start(order: PolicyTask, signal?: AbortSignal) {
    const verified = Promise.withResolvers<string>()
    const compiled = Promise.withResolvers<CompiledPolicies | Error>()
    const snapshot = Promise.withResolvers<Uint8Array>()
    let isCompiled = false
    let isOver = false
    const options = { workerData: order, ...isolated }
    const thread = startThread(file, options, {
      message: hear,
      end: ({ code, cause }) => (code === 0 ? end(noSnapshot()) : died(cause)),
    })

    function end(reason: unknown): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      for (const { reject } of [verified, compiled, snapshot]) reject(reason)
      void thread.terminate()
    }
    function onAbort(): void {
      if (!isCompiled) end(signal?.reason)
    }
    function died(cause: unknown): void {
      if (!isOver) usable = false
      end(new Fault('policies', { cause, reason: 'the policy loader thread died' }))
    }
    function hear(reply: PolicyReply): void {
      if (isOver) return
      switch (reply.kind) {
        case 'verified':
          verified.resolve(reply.checksum)
          break
        case 'snapshot':
          snapshot.resolve(reply.bytes)
          break
        case 'fault':
          end(new Fault(reply.part, { reason: reply.reason }))
          break
        default:
          isCompiled = true
          compiled.resolve(resultOf(reply, signal))
      }
    }

    const timer = setTimeout(() => end(tooLate()), timeoutMs)
    signal?.addEventListener('abort', onAbort)
    // A rejection that the caller does not await must not become an unhandled one.
    for (const { promise } of [verified, compiled, snapshot]) promise.catch(() => {})
    if (signal?.aborted === true) onAbort()
    return {
      /** The checksum of a document, once it is verified. */
      verified: verified.promise,
      compiled: compiled.promise,
      snapshot: snapshot.promise,
      end: () => isCompiled || end(noSnapshot()),
    }
  }

  return {
    start,
    /** False once a thread died: the next one would die for the same reason. */
    usable: () => usable,
  }
}

const noSnapshot = () => new Fault('policies', { reason: 'no snapshot was created' })
const tooLate = () => new Fault('policies', { reason: 'policy not loaded within two minutes' })

/** Under the ending that this file has, in the source and in what is built from it. */
const file = new URL(import.meta.url.replace('policy-threads', 'policy-worker'))

type Result = Extract<PolicyReply, { readonly kind: 'compiled' | 'files' | 'invalid' }>

async function resultOf(
  reply: Result,
  signal: AbortSignal | undefined,
): Promise<CompiledPolicies | Error> {
  if (reply.kind === 'invalid') return new Invalid(reply.problems)
  if (reply.kind === 'compiled') return compileFlat(reply.flat)
  return preparedOrRefused(reply.files, signal)
}
