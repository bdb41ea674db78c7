import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../errors.ts'
import type { Head, PolicyStore, ReplicaReport } from '../stores/policies.ts'
import type { Io } from './io.ts'
import { createProgress } from './policy-progress.ts'

/** How many of the replicas that report decide by the head. */
export interface Convergence {
  readonly head: Head
  readonly replicas: readonly ReplicaReport[]
  readonly behind: readonly ReplicaReport[]
}

/** Who decides by this head and who does not, as far as they report. */
export function convergenceOf(head: Head, replicas: readonly ReplicaReport[]): Convergence {
  const behind = replicas.filter(({ revision, stale }) => stale || revision !== head.revision)
  return { head, replicas, behind }
}

/** `3/3 on r-3f2a9c81d604`. */
export function inShort({ head, replicas, behind }: Convergence): string {
  return `${replicas.length - behind.length}/${replicas.length} on ${head.revision}`
}

/** Those that are behind, a line each. */
export function formatBehind({ behind }: Convergence): string {
  const lines = behind.map(({ id, revision, stale, ageSeconds }) => {
    const state = stale ? 'cannot confirm its policy' : 'reports'
    return `  ${id} decides by ${revision ?? 'nothing'}, ${state} (${ageSeconds} s ago)\n`
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
    const replicas = await listReplicas(store)
    if (replicas !== undefined) last = convergenceOf(head, replicas)
    const isDone = replicas !== undefined && last.behind.every((each) => isPast(each, head))
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

async function listReplicas(store: PolicyStore): Promise<readonly ReplicaReport[] | undefined> {
  try {
    return await store.replicas()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
