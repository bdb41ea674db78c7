import { parentPort, workerData } from 'node:worker_threads'
import { Fault, Invalid } from '../errors.ts'
import { flattenPolicies, memoryOf } from '../policy/flat-policies.ts'
import { type PolicyFile, parsePolicySet } from '../policy/policy-set.ts'
import { finish } from '../policy/steps.ts'
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
  const flat = finish(flattenPolicies(parsePolicySet(files)))
  if (flat === undefined) say({ kind: 'files', files })
  else say({ kind: 'compiled', flat }, memoryOf(flat))
}

function textOf(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString()
}

function say(reply: PolicyReply, memory: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, memory)
}
