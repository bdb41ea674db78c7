import {
  bounds,
  type Disagreement,
  disagreementKey,
  type Evidence,
  noCounts,
  type ShadowCounts,
} from './evidence.ts'

/** A replica that reports which live policy it uses. */
interface KnownReplica {
  readonly id: string
  readonly version: string
  readonly lost: boolean
}

/** What a replica says about the shadow. */
interface ReportedEvidence {
  readonly id: string
  readonly evaluatingMs: number
  readonly problem?: string
  readonly evidence: Evidence
}

/**
 * - evaluating: it runs and compares every decision.
 * - failed: it runs and could not load the shadow.
 * - missing: it runs and has said nothing about the shadow, as version 0.1.0 does.
 * - lost: it stopped reporting, and what it saw since is unknown.
 * - ended: it shut down or was replaced. What it saw counts.
 */
type ReplicaState = 'evaluating' | 'failed' | 'missing' | 'lost' | 'ended'

export interface ReplicaEvidence extends ShadowCounts {
  readonly id: string
  readonly state: ReplicaState
  readonly version?: string
  readonly evaluatingMs: number
  readonly problem?: string
}

/** What all replicas together have seen of a shadow. */
export type FleetEvidence = ReturnType<typeof combineEvidence>

/** Adds up what the replicas report about a shadow. */
export function combineEvidence(
  known: readonly KnownReplica[],
  reports: readonly ReportedEvidence[],
) {
  const byId = new Map(reports.map((report) => [report.id, report]))
  const knownIds = new Set(known.map(({ id }) => id))
  const replicas = [
    ...known.map((replica) => replicaEvidence(replica, byId.get(replica.id))),
    ...reports.filter(({ id }) => !knownIds.has(id)).map(endedEvidence),
  ]
  return {
    replicas,
    evaluated: sumOf(replicas, 'evaluated'),
    wouldDeny: sumOf(replicas, 'wouldDeny'),
    wouldAllow: sumOf(replicas, 'wouldAllow'),
    failed: sumOf(replicas, 'failed'),
    /** The last live revisions that it was compared with. */
    against: [...new Set(reports.flatMap(({ evidence }) => evidence.against))].slice(
      -bounds.against,
    ),
    /** By kind, role, method and rules; the most frequent first. */
    disagreements: merge(reports.flatMap(({ evidence }) => evidence.disagreements)),
  }
}

function replicaEvidence(
  { id, version, lost }: KnownReplica,
  report: ReportedEvidence | undefined,
): ReplicaEvidence {
  if (report === undefined) {
    return { id, version, state: lost ? 'lost' : 'missing', evaluatingMs: 0, ...noCounts }
  }
  const running = report.problem === undefined ? 'evaluating' : 'failed'
  return { version, ...reported(report), state: lost ? 'lost' : running }
}

function endedEvidence(report: ReportedEvidence): ReplicaEvidence {
  return { ...reported(report), state: 'ended' }
}

function reported({ id, evaluatingMs, problem, evidence }: ReportedEvidence) {
  const { evaluated, wouldDeny, wouldAllow, failed } = evidence
  return {
    ...{ id, evaluatingMs, evaluated, wouldDeny, wouldAllow, failed },
    ...(problem !== undefined && { problem }),
  }
}

function sumOf(replicas: readonly ReplicaEvidence[], name: keyof ShadowCounts): number {
  return replicas.reduce((sum, replica) => sum + replica[name], 0)
}

/** The sample of a merged group is that of its last request. */
function merge(all: readonly Disagreement[]): readonly Disagreement[] {
  const groups = new Map<string, Disagreement>()
  for (const each of all) {
    const key = disagreementKey(each)
    const known = groups.get(key)
    groups.set(key, known === undefined ? each : merged(known, each))
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}

function merged(a: Disagreement, b: Disagreement): Disagreement {
  const latest = a.last < b.last ? b : a
  return { ...latest, count: a.count + b.count, first: a.first < b.first ? a.first : b.first }
}
