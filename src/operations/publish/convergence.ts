import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../kernel/errors.ts'
import { combineEvidence, type FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { Head, PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { OVERDUE_MS } from '../../stores/policies/replicas/replica-report.ts'

/** Which of the known replicas use the live revision. */
export interface Convergence {
  readonly head: Head
  readonly replicas: readonly ReplicaReport[]
  /** Replicas that report another revision, or cannot confirm theirs. */
  readonly behind: readonly ReplicaReport[]
  /** Replicas that stopped reporting without an orderly shutdown. */
  readonly lost: readonly ReplicaReport[]
  /** How many replicas must use it, if the user says so: the list itself may be incomplete. */
  readonly expected?: number
  /** Why the replicas could not be listed; the rest may then be outdated. */
  readonly problem?: string
}

/** Compares the reports of the replicas with the live revision. */
export function convergenceOf(
  head: Head,
  replicas: readonly ReplicaReport[],
  expected?: number,
): Convergence {
  const lost = replicas.filter((each) => each.lost)
  const behind = replicas.filter(
    (each) => !each.lost && (each.stale || each.revision !== head.revision),
  )
  return { head, replicas, behind, lost, ...(expected !== undefined && { expected }) }
}

/** `3/3 on r-3f2a9c81d604`. */
export function convergedWords({ head, replicas, behind, lost }: Convergence): string {
  const converged = replicas.length - behind.length - lost.length
  return `${converged}/${replicas.length} on ${head.revision}`
}

/**
 * Whether every known replica uses the live revision. An empty list proves nothing, so it counts as a
 * failure unless the user accepts that and lost replicas.
 */
export function isConverged(
  { replicas, behind, lost, expected, problem }: Convergence,
  { allowLost = false } = {},
): boolean {
  if (behind.length > 0 || problem !== undefined) return false
  if (expected !== undefined && replicas.length - lost.length !== expected) return false
  return allowLost || (lost.length === 0 && replicas.length > 0)
}

/** For how long to wait, how many replicas are expected, and who watches. */
interface WaitOptions<State> {
  readonly seconds: number
  /** `undefined`: those that report. */
  readonly expected: number | undefined
  readonly onWait: (state: State) => void
}

/**
 * Waits until every reporting replica uses this revision or a later one and as many as expected
 * report, or until the timeout. Does not wait for lost replicas. An empty list counts only after a
 * report is due. Retries a Redis that does not answer.
 */
export async function awaitConvergence(
  head: Head,
  waiting: WaitOptions<Convergence>,
  store: PolicyStore,
): Promise<Convergence> {
  let last = convergenceOf(head, [], waiting.expected)
  return waitUntil(waiting, {
    read: async () => {
      last = await nextOf(last, store)
      return last
    },
    isDone: async (state, waitedMs) =>
      isSettled(state, waitedMs) && (await isOvertaken(state, store)),
  })
}

/** Waits until every running replica has said whether it evaluates the shadow, or until the timeout. */
export async function awaitEvaluation(
  waiting: WaitOptions<FleetEvidence>,
  store: PolicyStore,
): Promise<FleetEvidence> {
  const { expected } = waiting
  return waitUntil(waiting, {
    read: async () => combineEvidence(await store.replicas(), await store.shadow.reports()),
    isDone: async (evidence) => {
      const { replicas } = evidence
      const isComplete = replicas.length > 0 && !replicas.some(({ state }) => state === 'missing')
      return isComplete && (expected === undefined || evaluatingOf(evidence) === expected)
    },
  })
}

/** Whether all running replicas evaluate the shadow. No replicas prove nothing. */
export function isEvaluated(
  evidence: FleetEvidence,
  { allowLost, expected }: { readonly allowLost: boolean; readonly expected: number | undefined },
): boolean {
  if (expected !== undefined && evaluatingOf(evidence) !== expected) return false
  const { replicas } = evidence
  if (replicas.some(({ state }) => state === 'failed' || state === 'missing')) return false
  if (allowLost) return true
  return evaluatingOf(evidence) > 0 && !replicas.some(({ state }) => state === 'lost')
}

export function evaluatingOf({ replicas }: FleetEvidence): number {
  return replicas.filter(({ state }) => state === 'evaluating').length
}

const everyMs = 100

async function waitUntil<State>(
  { seconds, onWait }: WaitOptions<State>,
  {
    read,
    isDone,
  }: {
    readonly read: () => Promise<State>
    readonly isDone: (state: State, waitedMs: number) => Promise<boolean>
  },
): Promise<State> {
  const began = performance.now()
  for (;;) {
    const state = await read()
    const waitedMs = performance.now() - began
    if (waitedMs >= seconds * 1000 || (await isDone(state, waitedMs))) return state
    onWait(state)
    await pause(everyMs)
  }
}

function isSettled(convergence: Convergence, waitedMs: number): boolean {
  const { head, replicas, behind, lost, expected, problem } = convergence
  if (problem !== undefined) return false
  if (expected !== undefined && replicas.length - lost.length !== expected) return false
  // After Redis lost its data, the next report of each replica puts it back on the list.
  if (replicas.length === 0) return waitedMs >= OVERDUE_MS
  return behind.every((each) => isPast(each, head))
}

/** The replica already uses what someone else published after us. */
function isPast({ sequence, stale }: ReplicaReport, head: Head): boolean {
  return !stale && sequence !== undefined && sequence > head.sequence
}

/** Whether no replica is behind, or someone else published after us: a planted sequence proves nothing. */
async function isOvertaken({ head, behind }: Convergence, store: PolicyStore): Promise<boolean> {
  if (behind.length === 0) return true
  try {
    return (await store.head())?.sequence !== head.sequence
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

async function nextOf(last: Convergence, store: PolicyStore): Promise<Convergence> {
  try {
    return convergenceOf(last.head, await store.replicas(), last.expected)
  } catch (error) {
    if (error instanceof Fault) return { ...last, problem: error.message }
    throw error
  }
}
