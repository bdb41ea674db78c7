import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { Head, PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { OVERDUE_MS } from '../../stores/policies/replicas/replica-report.ts'
import { count, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { createProgress } from '../progress.ts'

/** Which of the known replicas use the live revision. */
export interface Convergence {
  readonly head: Head
  readonly replicas: readonly ReplicaReport[]
  /** Those that report another revision, or cannot confirm theirs. */
  readonly behind: readonly ReplicaReport[]
  /** Those that stopped reporting without an orderly shutdown. */
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

/** `3/3 on r-3f2a9c81d604`. */
export function formatConvergence({ head, replicas, behind, lost }: Convergence): string {
  const converged = replicas.length - behind.length - lost.length
  return `${converged}/${replicas.length} on ${head.revision}`
}

/** One line for each replica that is behind or lost, and what to do about the lost ones. */
export function formatBehind(convergence: Convergence): string {
  const { replicas, behind, lost } = convergence
  if (replicas.length === 0) return noReplicas + formatUnexpected(convergence)
  const lines = behind.map(({ id, revision, stale, ageSeconds, lastError }) => {
    const what = `${id} uses ${revision ?? 'no policy'}${stale ? ', cannot confirm it' : ''}`
    const why = lastError === undefined ? '' : `: ${lastError}`
    return `  ${printable(what)} (reported ${ageSeconds} s ago)${printable(why)}\n`
  })
  return lines.join('') + formatLost(lost) + formatUnexpected(convergence)
}

/** What a wrong number of replicas means; empty when it is the expected one, or any will do. */
export function formatUnexpected({
  replicas,
  lost,
  expected,
}: Pick<Convergence, 'replicas' | 'lost'> & { readonly expected?: number | undefined }): string {
  const found = replicas.length - lost.length
  if (expected === undefined || found === expected) return ''
  const advice =
    found < expected
      ? 'check redis.url and redis.prefix of the missing gateways'
      : '"postern policy status" shows all of them'
  const reporting = found === 1 ? '1 reports' : `${found} report`
  return `expected ${count(expected, 'replica')}, but ${reporting}: ${advice}\n`
}

/** One line for each lost replica, and what to do about them; empty without any. */
export function formatLost(lost: readonly ReplicaReport[]): string {
  if (lost.length === 0) return ''
  const lines = lost.map(({ id, revision, ageSeconds }) => {
    const what = `${id} is lost: last report ${Math.round(ageSeconds)} s ago; if it still runs, it uses ${revision ?? 'no policy'}`
    return `  ${printable(what)}\n`
  })
  return `${lines.join('')}${lostAdvice}`
}

const lostAdvice =
  'reconnect each lost replica to Redis, or stop it; if it no longer runs, run "postern policy status --forget ID" (or --forget lost for all)\n'

/** What `0/0` means. */
export const noReplicas =
  'no replicas have reported to this Redis: start a gateway, or check redis.url and redis.prefix\n'

const everyMs = 100

/**
 * Waits until every reporting replica uses this revision or a later one and as many as expected
 * report, or until the timeout. Does not wait for lost replicas. An empty list counts only after a
 * report is due. Retries a Redis that does not answer.
 */
export async function awaitConvergence(
  head: Head,
  { seconds, replicas }: { readonly seconds: number; readonly replicas: number | undefined },
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<Convergence> {
  const progress = createProgress(io)
  const began = performance.now()
  const until = began + seconds * 1000
  let last = convergenceOf(head, [], replicas)
  for (;;) {
    last = await nextOf(last, store)
    const now = performance.now()
    if (now >= until || (isSettled(last, now - began) && (await isOvertaken(last, store)))) break
    progress.show(() => `waiting for replicas: ${formatConvergence(last)}`)
    await pause(everyMs)
  }
  progress.end()
  return last
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

/** Whether nobody is behind, or someone else published after us: a planted sequence proves nothing. */
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
