import { isRecord } from '../kernel/json.ts'
import type { ClockFacts } from './clock-offset.ts'
import { factLimits, type ReplicaFacts, type TargetState } from './replica-facts.ts'

type Stored = Readonly<Record<string, unknown>>

/**
 * Facts that another process wrote, with every text and list cut to its limit: others may write to
 * Redis too. `undefined` for anything that is not a report, such as one of an older version.
 */
export function readFacts(value: unknown): ReplicaFacts | undefined {
  const facts = asObject(value)
  const { startedAt, mode, worker, ready } = facts
  if (!isTime(startedAt) || typeof mode !== 'string') return undefined
  const configuration = asObject(facts['configuration'])
  const certificate = asObject(facts['certificate'])
  const clock = readClock(asObject(facts['clock']))
  const keys = asObject(facts['keys'])
  const upstreams = asObject(facts['upstreams'])
  return {
    startedAt,
    mode: text(mode),
    ...(typeof worker === 'number' && { worker }),
    ready: ready === true,
    ...(isTime(configuration['since']) && {
      configuration: {
        revision: text(configuration['revision']),
        since: configuration['since'],
        rejected: configuration['rejected'] === true,
      },
    }),
    ...(clock !== undefined && { clock }),
    keys: {
      signer: typeof keys['signer'] === 'string' ? text(keys['signer']) : null,
      ids: list(keys['ids']).map(text),
      count: count(keys['count']),
      since: isTime(keys['since']) ? keys['since'] : startedAt,
      rejected: keys['rejected'] === true,
    },
    ...(isTime(certificate['notAfter']) && {
      certificate: {
        names: text(certificate['names']),
        notAfter: certificate['notAfter'],
        rejected: certificate['rejected'] === true,
      },
    }),
    upstreams: {
      targets: count(upstreams['targets']),
      out: count(upstreams['out']),
      named: list(upstreams['named']).map(asObject).map(readTarget),
    },
    outcomes: readOutcomes(asObject(facts['outcomes'])),
  }
}

function readClock({ aheadMs, withinMs, source }: Stored): ClockFacts | undefined {
  if (!Number.isFinite(aheadMs) || !Number.isFinite(withinMs)) return undefined
  const known = source === 'the database' ? source : 'Redis'
  return { aheadMs: Number(aheadMs), withinMs: Math.max(0, Number(withinMs)), source: known }
}

const states: readonly TargetState[] = ['circuit-open', 'circuit-half-open', 'unhealthy', 'ejected']

function readTarget({ upstream, target, state }: Stored) {
  const known = states.find((each) => each === state) ?? 'unhealthy'
  return { upstream: text(upstream), target: text(target), state: known }
}

function readOutcomes(outcomes: Stored): Readonly<Record<string, number>> {
  const entries = Object.entries(outcomes).slice(0, factLimits.outcomes)
  return Object.fromEntries(entries.map(([name, value]) => [text(name), count(value)]))
}

function asObject(value: unknown): Stored {
  return isRecord(value) ? value : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, factLimits.names) : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, factLimits.text).toWellFormed() : ''
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 30 && !Number.isNaN(Date.parse(value))
}
