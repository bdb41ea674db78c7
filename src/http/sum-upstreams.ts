import type { TargetReport, UpstreamReport } from '../gateway/upstream/report.ts'

export type { TargetReport, UpstreamReport } from '../gateway/upstream/report.ts'

/**
 * The reports of all workers as one. Numbers add up. Of the states the worst one counts: a worker that
 * does not use a target is what an operator looks for.
 */
export function sumUpstreams(
  reports: readonly (readonly UpstreamReport[])[],
): readonly UpstreamReport[] {
  const upstreams = Map.groupBy(reports.flat(), ({ name }) => name)
  return [...upstreams].map(([name, each]) => {
    const targets = Map.groupBy(
      each.flatMap((one) => one.targets),
      ({ target }) => target,
    )
    return {
      name,
      balance: each[0]?.balance ?? '',
      targets: [...targets.values()].map((same) => same.reduce(sum)),
    }
  })
}

function sum(one: TargetReport, other: TargetReport): TargetReport {
  const errors = [one.lastError, other.lastError].filter((each) => each !== null)
  return {
    ...one,
    circuit:
      circuits[Math.max(...[one, other].map(({ circuit }) => circuits.indexOf(circuit)))] ?? 'open',
    healthy: one.healthy && other.healthy,
    sharePercent: Math.min(one.sharePercent, other.sharePercent),
    ejectedMs: Math.max(one.ejectedMs, other.ejectedMs),
    ejections: one.ejections + other.ejections,
    recentRequests: one.recentRequests + other.recentRequests,
    recentFailures: one.recentFailures + other.recentFailures,
    outstanding: one.outstanding + other.outstanding,
    tunnels: one.tunnels + other.tunnels,
    connections: one.connections + other.connections,
    lastError: errors.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null,
  }
}

/** From good to bad. */
const circuits = ['closed', 'half-open', 'open'] as const
