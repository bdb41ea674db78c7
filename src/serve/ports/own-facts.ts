import type { ClockFacts } from '../../fleet/clock-offset.ts'
import { factLimits, type ReplicaFacts, type TargetState } from '../../fleet/replica-facts.ts'
import type { TargetReport, UpstreamReport } from '../../gateway/upstream/report.ts'
import type { Sample } from '../../metrics/counts.ts'
import type { ConfigState } from '../options.ts'

interface FactParts {
  readonly mode: string
  readonly worker: number | undefined
  readonly isReady: () => boolean
  readonly configuration: (() => ConfigState) | undefined
  readonly clock: () => ClockFacts | undefined
  readonly keys: () => {
    readonly signer: string | null
    readonly keys: readonly { readonly kid: string }[]
    readonly since: string
    readonly lastError: string | undefined
  }
  readonly certificate:
    | (() => {
        readonly names: string
        readonly notAfter: string
        readonly lastError: string | undefined
      })
    | undefined
  readonly upstreams: () => readonly UpstreamReport[]
  readonly outcomes: () => readonly Sample[]
}

/** What this process says of itself to the fleet. Reads what other parts keep anyway. */
export function createOwnFacts(parts: FactParts): () => ReplicaFacts {
  const startedAt = new Date().toISOString()
  const { mode, worker, isReady, configuration, clock, keys, certificate, upstreams, outcomes } =
    parts
  const ofClock = () => {
    const found = clock()
    return found === undefined ? {} : { clock: found }
  }
  return () => ({
    startedAt,
    mode,
    ...(worker !== undefined && { worker }),
    ready: isReady(),
    ...(configuration !== undefined && { configuration: ofConfiguration(configuration()) }),
    ...ofClock(),
    keys: ofKeys(keys()),
    ...(certificate !== undefined && { certificate: ofCertificate(certificate()) }),
    upstreams: ofUpstreams(upstreams()),
    outcomes: Object.fromEntries(
      outcomes()
        .filter(([count]) => count > 0)
        .map(([count, outcome = '']) => [outcome, count]),
    ),
  })
}

function ofConfiguration({ revision, since, lastError }: ConfigState) {
  return { revision, since, rejected: lastError !== undefined }
}

function ofKeys({ signer, keys, since, lastError }: ReturnType<FactParts['keys']>) {
  const ids = keys.slice(0, factLimits.names).map(({ kid }) => kid)
  return { signer, ids, count: keys.length, since, rejected: lastError !== undefined }
}

function ofCertificate({
  names,
  notAfter,
  lastError,
}: ReturnType<NonNullable<FactParts['certificate']>>) {
  return { names: names.slice(0, factLimits.text), notAfter, rejected: lastError !== undefined }
}

function ofUpstreams(upstreams: readonly UpstreamReport[]): ReplicaFacts['upstreams'] {
  const all = upstreams.flatMap(({ name, targets }) =>
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
