import type { DecisionBatch, WatchedDecision } from '#client'

export interface NumberedDecision extends WatchedDecision {
  /** In the order of arrival, from 1. */
  readonly number: number
}

/** The last decisions, newest first. */
export interface DecisionList {
  readonly decisions: readonly NumberedDecision[]
  readonly seen: number
  readonly leftOut: number
}

export const noDecisions: DecisionList = { decisions: [], seen: 0, leftOut: 0 }

/** More would only cost memory: no one reads further back in a stream. */
const mostKept = 1000

export function withBatches(list: DecisionList, batches: readonly DecisionBatch[]): DecisionList {
  const arrived = batches.flatMap(({ decisions }) => decisions)
  const numbered = arrived.map((each, at) => ({ ...each, number: list.seen + at + 1 }))
  return {
    decisions: [...numbered.toReversed(), ...list.decisions].slice(0, mostKept),
    seen: list.seen + arrived.length,
    leftOut: batches.reduce((sum, { leftOut }) => sum + leftOut, list.leftOut),
  }
}

/** Texts match parts of names and paths in any case; methods match whole. */
export interface DecisionFilter {
  readonly role?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly verdict?: string | undefined
}

export function matches(decision: WatchedDecision, filter: DecisionFilter): boolean {
  const { role = '', method = '', path = '', verdict = '' } = filter
  return (
    contains(decision.role, role) &&
    contains(decision.path, path) &&
    (method === '' || decision.method === method.toUpperCase()) &&
    (verdict === '' || decision.result === verdict)
  )
}

function contains(text: string | undefined, part: string): boolean {
  return part === '' || (text ?? '').toLowerCase().includes(part.toLowerCase())
}

/**
 * What the page "Can they?" is asked to explain a decision; `undefined` where its path is hidden or was
 * cut. `current` is the policy that this page asks: another revision must be named.
 */
export function explanationOf(
  decision: WatchedDecision,
  current: { readonly revision: string; readonly isPublished: boolean } | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  const { role, method, path, host, domain, revision } = decision
  if (path === undefined || !path.startsWith('/') || path.endsWith('…')) return undefined
  const isOther = current?.isPublished === true && revision !== current.revision
  return {
    ...(role === undefined ? { anonymous: '1' } : { role }),
    ...{ method, path, host, domain },
    revision: isOther ? revision : undefined,
  }
}
