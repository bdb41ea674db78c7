import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../errors.ts'
import type { Head, PolicyStore, ReplicaReport } from '../stores/policies.ts'
import type { Io } from './io.ts'
import { createProgress } from './policy-progress.ts'
import { printable } from './table.ts'

/** How many of the replicas that report decide by the head. */
export interface Convergence {
  readonly head: Head
  readonly replicas: readonly ReplicaReport[]
  readonly behind: readonly ReplicaReport[]
  /** Why nobody could be asked, so that what the rest says is not known to be so. */
  readonly problem?: string
}

/** Who decides by this head and who does not, as far as they report. */
export function convergenceOf(head: Head, replicas: readonly ReplicaReport[]): Convergence {
  const behind = replicas.filter(({ revision, stale }) => stale || revision !== head.revision)
  return { head, replicas, behind }
}

/** Whether every replica that reports is known to decide by the head. */
export function isConverged({ behind, problem }: Convergence): boolean {
  return behind.length === 0 && problem === undefined
}

/** `3/3 on r-3f2a9c81d604`. */
export function inShort({ head, replicas, behind }: Convergence): string {
  return `${replicas.length - behind.length}/${replicas.length} on ${head.revision}`
}

/** Those that are behind, a line each. */
export function formatBehind({ behind }: Convergence): string {
  const lines = behind.map(({ id, revision, stale, ageSeconds }) => {
    const state = stale ? 'cannot confirm its policy' : 'reports'
    const what = `${id} decides by ${revision ?? 'nothing'}, ${state}`
    return `  ${printable(what)} (${ageSeconds} s ago)\n`
  })
  return lines.join('')
}

const everyMs = 100

/**
 * Waits until every replica that reports decides by this head, or has a later one, or the time is
 * over. A Redis that does not answer in between is asked again until then.
 */
export async function awaitConvergence(
  head: Head,
  seconds: number,
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<Convergence> {
  const progress = createProgress(io)
  const until = performance.now() + seconds * 1000
  let last = convergenceOf(head, [])
  for (;;) {
    last = await nextOf(last, store)
    const isDone = last.problem === undefined && last.behind.every((each) => isPast(each, head))
    if (isDone || performance.now() >= until) break
    progress.show(() => `waiting for replicas: ${inShort(last)}`)
    await pause(everyMs)
  }
  progress.end()
  return last
}

/** It has gone on to what somebody published after us. */
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
