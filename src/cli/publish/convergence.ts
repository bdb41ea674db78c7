import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { Head, PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { OVERDUE_MS } from '../../stores/policies/replicas/replica-report.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { createProgress } from '../progress.ts'

/** How many of the known replicas decide by the head. */
export interface Convergence {
  readonly head: Head
  readonly replicas: readonly ReplicaReport[]
  /** Those that report and do not decide by the head, or cannot confirm it. */
  readonly behind: readonly ReplicaReport[]
  /** Those that stopped reporting without an orderly shutdown. */
  readonly lost: readonly ReplicaReport[]
  /** Why the replicas could not be listed, so that the rest is not known to be true. */
  readonly problem?: string
}

/** Who decides by this head and who does not, as far as they report. */
export function convergenceOf(head: Head, replicas: readonly ReplicaReport[]): Convergence {
  const lost = replicas.filter((each) => each.lost)
  const behind = replicas.filter(
    (each) => !each.lost && (each.stale || each.revision !== head.revision),
  )
  return { head, replicas, behind, lost }
}

/**
 * Whether every known replica decides by the head. A list without any replica proves nothing, so it
 * is no success, unless the caller accepts that, and lost ones.
 */
export function isConverged(
  { replicas, behind, lost, problem }: Convergence,
  { allowLost = false } = {},
): boolean {
  if (behind.length > 0 || problem !== undefined) return false
  return allowLost || (lost.length === 0 && replicas.length > 0)
}

/** `3/3 on r-3f2a9c81d604`. */
export function inShort({ head, replicas, behind, lost }: Convergence): string {
  const converged = replicas.length - behind.length - lost.length
  return `${converged}/${replicas.length} on ${head.revision}`
}

/** Those that are behind, a line each; then those that are lost, and what to do about them. */
export function formatBehind({ replicas, behind, lost }: Convergence): string {
  if (replicas.length === 0) return noReplicas
  const lines = behind.map(({ id, revision, stale, ageSeconds }) => {
    const state = stale ? 'cannot confirm its policy' : 'reports'
    const what = `${id} decides by ${revision ?? 'nothing'}, ${state}`
    return `  ${printable(what)} (${ageSeconds} s ago)\n`
  })
  return lines.join('') + formatLost(lost)
}

/** The lost ones, a line each, and what to do about them; empty without any. */
export function formatLost(lost: readonly ReplicaReport[]): string {
  if (lost.length === 0) return ''
  const lines = lost.map(({ id, revision, ageSeconds }) => {
    const what = `${id} is lost: last report ${Math.round(ageSeconds)} s ago; if it still runs, it decides by ${revision ?? 'nothing'}`
    return `  ${printable(what)}\n`
  })
  return `${lines.join('')}${lostAdvice}`
}

const lostAdvice =
  'restore the connection to Redis of each lost replica, or stop it; if it no longer runs: postern policy status --forget ID (--forget lost: all of them)\n'

/** What `0/0` means. */
export const noReplicas =
  'no gateway has reported to this Redis: it is not known whether any decides by this policy. Start one, or check redis.url and redis.prefix\n'

const everyMs = 100

/**
 * Waits until every replica that reports decides by this head, or has a later one, or the time is
 * over. Lost replicas are not waited for. Without any, a report that is due is. A Redis that does
 * not answer in between is asked again until then.
 */
export async function awaitConvergence(
  head: Head,
  seconds: number,
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<Convergence> {
  const progress = createProgress(io)
  const began = performance.now()
  const until = began + seconds * 1000
  let last = convergenceOf(head, [])
  for (;;) {
    last = await nextOf(last, store)
    const now = performance.now()
    if (isSettled(last, now - began) || now >= until) break
    progress.show(() => `waiting for replicas: ${inShort(last)}`)
    await pause(everyMs)
  }
  progress.end()
  return last
}

function isSettled({ head, replicas, behind, problem }: Convergence, waitedMs: number): boolean {
  if (problem !== undefined) return false
  // After Redis lost its data, each replica is back on the list with its next report.
  if (replicas.length === 0) return waitedMs >= OVERDUE_MS
  return behind.every((each) => isPast(each, head))
}

/** It already decides by what someone else published after us. */
function isPast({ sequence, stale }: ReplicaReport, head: Head): boolean {
  return !stale && sequence !== undefined && sequence > head.sequence
}

async function nextOf(last: Convergence, store: PolicyStore): Promise<Convergence> {
  try {
    return convergenceOf(last.head, await store.replicas())
  } catch (error) {
    if (error instanceof Fault) return { ...last, problem: error.message }
    throw error
  }
}
