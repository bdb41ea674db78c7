import type { TrafficPoint } from '#client'

/** Event `history` of `live/traffic`. */
export interface TrafficHistory {
  readonly stepMs: number
  readonly points: readonly TrafficPoint[]
}

/** What outcomes have in common, in the order of the chart. */
export const outcomeGroups = [
  'passed',
  'denied',
  'unidentified',
  'failed',
  'limited',
  'refused',
] as const
export type OutcomeGroup = (typeof outcomeGroups)[number]

const unidentified = /^token-|^cross-site-cookie$/
/** Not by the request: an upstream, a store or the gateway itself. */
const failed = new Set([
  ...['cut-by-upstream', 'cut-by-gateway', 'bug', 'port', 'overloaded', 'workers'],
  ...['configuration', 'gateway', 'redis', 'database', 'policies', 'revocations'],
  ...['password-check', 'keys', 'issuer', 'identity-provider', 'directory', 'login-module'],
  ...['second-factor', 'certificate', 'clock', 'upstream-unreachable', 'upstream-untrusted'],
  ...['upstream-broken', 'upstream-timeout', 'upstream-busy', 'upstream-share'],
  ...['upstream-failing'],
])

export function groupOf(outcome: string): OutcomeGroup {
  if (outcome === 'passed' || outcome === 'cut-by-client') return 'passed'
  if (outcome === 'not-permitted') return 'denied'
  if (unidentified.test(outcome)) return 'unidentified'
  if (outcome === 'too-many-requests') return 'limited'
  return failed.has(outcome) ? 'failed' : 'refused'
}

export type GroupSums = Readonly<Record<OutcomeGroup, number>>

/**
 * Requests in the minute before the end of each step, by group. `undefined` where the gateways could
 * not be asked.
 */
export function perMinute({ stepMs, points }: TrafficHistory): readonly (GroupSums | undefined)[] {
  const steps = Math.max(1, Math.round(60_000 / stepMs))
  const grouped = points.map(({ outcomes }) => outcomes && byGroup(outcomes))
  return grouped.map((sums, at) => {
    if (sums === undefined) return undefined
    const minute = grouped.slice(Math.max(0, at - steps + 1), at + 1)
    return sumOf(minute.filter((each) => each !== undefined))
  })
}

function byGroup(outcomes: Readonly<Record<string, number>>): GroupSums {
  const sums = { passed: 0, denied: 0, unidentified: 0, failed: 0, limited: 0, refused: 0 }
  for (const [outcome, count] of Object.entries(outcomes)) sums[groupOf(outcome)] += count
  return sums
}

function sumOf(all: readonly GroupSums[]): GroupSums {
  const total = (group: OutcomeGroup) => all.reduce((sum, each) => sum + each[group], 0)
  return {
    passed: total('passed'),
    denied: total('denied'),
    unidentified: total('unidentified'),
    failed: total('failed'),
    limited: total('limited'),
    refused: total('refused'),
  }
}

/** All outcomes of these steps, the most frequent first. */
export function outcomesOf(
  points: readonly TrafficPoint[],
): readonly { readonly outcome: string; readonly count: number }[] {
  const sums = new Map<string, number>()
  for (const { outcomes = {} } of points) {
    for (const [outcome, count] of Object.entries(outcomes)) {
      sums.set(outcome, (sums.get(outcome) ?? 0) + count)
    }
  }
  return [...sums]
    .map(([outcome, count]) => ({ outcome, count }))
    .toSorted((one, other) => other.count - one.count || (one.outcome < other.outcome ? -1 : 1))
}

const mostPoints = 360

/** With one step more, for an hour. */
export function withPoint(history: TrafficHistory, point: TrafficPoint): TrafficHistory {
  return { ...history, points: [...history.points, point].slice(-mostPoints) }
}
