import { availableParallelism } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { Fault, Invalid } from '../errors.ts'
import { flattenPolicies, memoryOf } from '../policy/flat-policies.ts'
import { type PolicyFile, parseInSteps } from '../policy/policy-set.ts'
import { finish, finishWithRests, type Steps } from '../policy/steps.ts'
import { parseDocument } from './policy-document.ts'
import type { PolicyOrder, PolicyReply } from './policy-order.ts'
import { formatSnapshot } from './snapshot-text.ts'

/* What the thread of `policy-worker.ts` does: all that takes time with the size of a policy. */
try {
  work(workerData as PolicyOrder)
} catch (error) {
  if (error instanceof Invalid) say({ kind: 'invalid', problems: error.problems })
  else if (error instanceof Fault) say({ kind: 'fault', part: error.part, reason: error.message })
  else throw error
}

function work(order: PolicyOrder): void {
  if (order.kind === 'files') {
    takeIn(order.files.map(({ name, bytes }) => ({ name, text: textOf([bytes]) })))
    return
  }
  const { pieces, revision, sequence, snapshot } = order
  const { files, checksum } = parseDocument(textOf(pieces), revision)
  say({ kind: 'verified', checksum })
  takeIn(files)
  if (!snapshot) return
  const bytes = new TextEncoder().encode(formatSnapshot({ files, checksum, revision, sequence }))
  say({ kind: 'snapshot', bytes }, [bytes.buffer])
}

function takeIn(files: readonly PolicyFile[]): void {
  const flat = finishGently(flattenPolicies(finishGently(parseInSteps(files))))
  if (flat === undefined) say({ kind: 'files', files })
  else say({ kind: 'compiled', flat }, memoryOf(flat))
}

/**
 * A container that may use one core is stopped as a whole when its threads together have used more,
 * whatever their priorities: there this one leaves half of it to the others.
 */
function finishGently<T>(steps: Steps<T>): T {
  if (availableParallelism() > 1) return finish(steps)
  return finishWithRests(steps, { rest, sliceMs: 2 })
}

function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function textOf(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString()
}

function say(reply: PolicyReply, memory: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, memory)
}
