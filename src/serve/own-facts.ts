import { factLimits, type ReplicaFacts, type TargetState } from '../fleet/replica-facts.ts'
import { reportUpstreams, type TargetReport } from '../gateway/upstream/report.ts'
import type { Upstream } from '../gateway/upstream/upstream.ts'
import type { OpenCertificate } from '../stores/keys/certificate-feed.ts'
import type { OpenKeys } from '../stores/keys/key-feed.ts'
import type { Assembly } from './assembly.ts'
import type { ConfigState, ServeOptions } from './options.ts'

/** What this process says of itself to the fleet; `undefined` until it has all of its parts. */
export function createOwnFacts(
  { asWorker }: ServeOptions,
  mode: string,
  assembly: Assembly,
): () => ReplicaFacts | undefined {
  const startedAt = new Date().toISOString()
  const worker = asWorker === undefined ? {} : { worker: asWorker.number }
  return () => {
    const { keys, upstreams, ...others } = assembly.facts()
    if (keys === undefined || upstreams === undefined) return undefined
    const outcomes = assembly.registry.samples('postern_outcomes_total')
    return {
      ...{ startedAt, mode, ...worker },
      ready: assembly.checks().every(({ problem }) => problem() === undefined),
      ...{ ...others, keys, upstreams },
      outcomes: Object.fromEntries(
        outcomes.filter(([count]) => count > 0).map(([count, outcome = '']) => [outcome, count]),
      ),
    }
  }
}

export function configurationFacts({ revision, since, lastError }: ConfigState) {
  return { revision, since, rejected: lastError !== undefined }
}

export function keyFacts({ signer, keys, since, lastError }: ReturnType<OpenKeys['state']>) {
  const ids = keys.slice(0, factLimits.names).map(({ kid }) => kid)
  return { signer, ids, count: keys.length, since, rejected: lastError !== undefined }
}

export function certificateFacts({
  names,
  notAfter,
  lastError,
}: ReturnType<OpenCertificate['state']>) {
  return { names: names.slice(0, factLimits.text), notAfter, rejected: lastError !== undefined }
}

export function upstreamFacts(upstreams: readonly Upstream[]): ReplicaFacts['upstreams'] {
  const all = reportUpstreams(upstreams).flatMap(({ name, targets }) =>
    targets.map((one) => ({ upstream: name, target: one.target, state: outBecause(one) })),
  )
  const out = all.flatMap(({ state, ...one }) => (state === undefined ? [] : [{ ...one, state }]))
  return { targets: all.length, out: out.length, named: out.slice(0, factLimits.names) }
}

/** Why it gets no requests, or only a trial; the strongest reason first. */
function outBecause({ circuit, healthy, ejectedMs }: TargetReport): TargetState | undefined {
  if (circuit !== 'closed') return `circuit-${circuit}`
  if (!healthy) return 'unhealthy'
  return ejectedMs > 0 ? 'ejected' : undefined
}
