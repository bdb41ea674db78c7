import type { ReadinessCheck } from '../fleet/part.ts'
import type { UpstreamReport } from './sum-upstreams.ts'

/** The response of `/readyz`. */
export interface Readiness {
  readonly ready: boolean
  readonly revision: string | null
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  /** Only with `?verbose`. */
  readonly [detail: string]: unknown
}

/** What a gateway that shuts down reports; the second entry is its name in 0.1. */
export const shutdownProblems: Readiness['problems'] = [
  { name: 'shutdown', problem: 'draining' },
  { name: 'life', problem: 'closing' },
]

interface ReadinessParts {
  readonly revision: () => string | undefined
  readonly checks: readonly ReadinessCheck[]
  /** More members of the response, for `/readyz?verbose`. */
  readonly details?: Readonly<Record<string, () => unknown>>
}

/** A gateway is ready if no check reports a problem. */
export function createReadiness({ revision, checks, details = {} }: ReadinessParts) {
  return (verbose: boolean): Readiness => {
    const problems = checks.flatMap(({ name, problem }) => {
      const text = problem()
      return text === undefined ? [] : [{ name, problem: text }]
    })
    const verdict = { ready: problems.length === 0, revision: revision() ?? null, problems }
    return verbose ? { ...verdict, ...inFull(details) } : verdict
  }
}

/** The verdict of a gateway that is of no use without these upstreams, as a sidecar is. */
export function withUpstreams(
  verdict: Readiness,
  needed: readonly string[],
  reports: readonly UpstreamReport[],
): Readiness {
  const problems = needed.flatMap((name) => {
    const targets = reports.find((report) => report.name === name)?.targets
    if (targets?.some(({ healthy }) => healthy)) return []
    const problem = targets === undefined ? 'is not defined' : 'has no healthy target'
    return [{ name: 'upstream', problem: `${name} ${problem}` }]
  })
  return {
    ...verdict,
    ready: verdict.ready && problems.length === 0,
    problems: [...verdict.problems, ...problems],
  }
}

function inFull(details: Readonly<Record<string, () => unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([name, read]) => [name, read()]))
}
