import { Fault, Invalid } from '../../kernel/errors.ts'
import { flattenPolicies, memoryOf } from '../../policy/engine/flat-policies.ts'
import { type PolicyFile, parseInSteps } from '../../policy/set/policy-set.ts'
import { finishWithRests, type Steps } from '../../policy/steps.ts'
import { parseDocument } from './document/policy-document.ts'
import { fileOf } from './policy-files.ts'
import type { PolicyReply, PolicyTask } from './policy-task.ts'
import { formatSnapshot } from './snapshot-text.ts'

/** Sends a message and transfers memory with it. */
export type SendReply = (reply: PolicyReply, memory?: readonly ArrayBuffer[]) => void

/**
 * What a thread does with an order: all work that grows with the size of a policy. Throws only what
 * the policy did not cause.
 */
export function runTask(order: PolicyTask, send: SendReply): void {
  try {
    if (order.kind === 'files') compile(order.files.map(fileOf), send)
    else loadDocument(order, send)
  } catch (error) {
    if (error instanceof Invalid) send({ kind: 'invalid', problems: error.problems })
    else if (error instanceof Fault)
      send({ kind: 'fault', part: error.part, reason: error.message })
    else throw error
  }
}

function loadDocument(order: Extract<PolicyTask, { readonly kind: 'document' }>, send: SendReply) {
  const { pieces, revision, sequence, author, snapshot, verified } = order
  const document = Buffer.concat(pieces).toString()
  const { files, checksum } = restAfter(() => parseDocument(document, revision))
  send({ kind: 'verified', checksum })
  compile(files, send)
  if (!snapshot) return
  const signed = verified === undefined ? {} : { verified, document }
  const known = { revision, sequence, ...(author !== undefined && { author }) }
  const offer = { files, checksum, ...known, ...signed }
  const text = restAfter(() => formatSnapshot(offer))
  send({ kind: 'snapshot', bytes: shared(text) })
}

function compile(files: readonly PolicyFile[], send: SendReply): void {
  const flat = finishGently(flattenPolicies(finishGently(parseInSteps(files))))
  if (flat === undefined) send({ kind: 'files', files })
  else send({ kind: 'compiled', flat }, memoryOf(flat))
}

/**
 * Low priority alone is not enough: the system runs a thread for some milliseconds before another one
 * gets the core. And a container that may use one core is stopped as a whole when its
 * threads together have used more.
 */
function finishGently<T>(steps: Steps<T>): T {
  return finishWithRests(steps, { rest, sliceMs: 0.5 })
}

function restAfter<T>(work: () => T): T {
  const begun = performance.now()
  const result = work()
  rest(performance.now() - begun)
  return result
}

const restFactor = 2

function rest(worked: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, worked * restFactor)
}

/** Shared memory does not count for the garbage collector of the thread that forwards requests. */
function shared(text: string): Uint8Array {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)))
  bytes.write(text)
  return new Uint8Array(bytes.buffer)
}
