import { median, rounded } from '../console/figures.ts'
import type { Table } from '../run/tables.ts'
import type { AttackOutcome } from './attack.ts'
import type { CallOutcome } from './calls.ts'

/** One flood against one server, once. */
export interface Sample {
  readonly server: string
  readonly kind: string
  readonly attack: AttackOutcome
  /** Of the server, beyond what the good calls take when it is calm. */
  readonly cpuSeconds: number
  /** How far its resident memory grew. */
  readonly growthBytes: number
  readonly calm: CallOutcome
  readonly flooded: CallOutcome
}

/** What came of a flood: medians of its samples. */
export interface Figures {
  readonly server: string
  readonly kind: string
  readonly frames: number
  readonly megabytes: number
  readonly connections: number
  readonly cpuSeconds: number
  readonly cpuMicrosPerFrame: number
  readonly growthMb: number
  /** How many frames a connection had sent when the server ended it; absent if it ended none. */
  readonly endedAfter?: number
  /** The share of connections that the server ended, and what it said. */
  readonly endedShare: number
  readonly reasons: readonly string[]
  readonly goodShare: number
  /** Of the good calls, in terms of those to the calm server. */
  readonly p50Ratio: number
  readonly p99Ratio: number
  readonly bad: readonly string[]
}

export function figuresOf(samples: readonly Sample[]): Figures {
  const [first] = samples
  if (first === undefined) throw new Error('no sample')
  const of = (value: (sample: Sample) => number, digits = 2) =>
    rounded(median(samples.map(value)), digits)
  const counts = samples.flatMap(({ attack }) => attack.endedAfter ?? [])
  const keys = (all: (sample: Sample) => object) => [
    ...new Set(samples.flatMap((sample) => Object.keys(all(sample)))),
  ]
  return {
    server: first.server,
    kind: first.kind,
    frames: of(({ attack }) => attack.frames, 0),
    megabytes: of(({ attack }) => attack.bytes / 1e6, 1),
    connections: of(({ attack }) => attack.connections, 0),
    cpuSeconds: of(({ cpuSeconds }) => cpuSeconds),
    cpuMicrosPerFrame: of(({ cpuSeconds, attack }) => (cpuSeconds / attack.frames) * 1e6, 1),
    growthMb: of(({ growthBytes }) => growthBytes / 1e6, 1),
    ...(counts.length > 0 && { endedAfter: Math.round(median(counts)) }),
    endedShare: of(({ attack }) => attack.ended / attack.connections),
    reasons: keys(({ attack }) => attack.reasons),
    goodShare: of(({ flooded }) => flooded.good / flooded.milliseconds.length, 4),
    p50Ratio: of((sample) => ratioOf(sample, 0.5)),
    p99Ratio: of((sample) => ratioOf(sample, 0.99)),
    bad: keys(({ flooded }) => flooded.bad),
  }
}

function ratioOf({ calm, flooded }: Sample, share: number): number {
  return percentile(flooded.milliseconds, share) / percentile(calm.milliseconds, share)
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** The kernel counts in hundredths, and the good calls are subtracted: less is not told apart from nothing. */
const leastSeconds = 0.03

/** A row for each flood, a column for each server. */
export function tablesOf(all: readonly Figures[]): Readonly<Record<string, Table>> {
  const servers = [...new Set(all.map(({ server }) => server))]
  const kinds = [...new Set(all.map(({ kind }) => kind))]
  const table = (title: string, text: (figures: Figures) => string): Table => [
    [title, ...servers],
    ...kinds.map((kind) => [
      kind,
      ...servers.map((server) => {
        const found = all.find((each) => each.kind === kind && each.server === server)
        return found === undefined ? '–' : text(found)
      }),
    ]),
  ]
  return {
    cpu: table('CPU seconds; µs per frame', ({ cpuSeconds, cpuMicrosPerFrame }) =>
      cpuSeconds < leastSeconds
        ? `below ${leastSeconds}`
        : `${cpuSeconds.toFixed(2)}; ${cpuMicrosPerFrame.toFixed(1)}`,
    ),
    frames: table('frames sent; connections', ({ frames, connections }) =>
      [frames, connections].join('; '),
    ),
    memory: table('growth of resident memory, MB', ({ growthMb }) => growthMb.toFixed(0)),
    ends: table('frames until the connection ends', ({ endedAfter, endedShare, reasons }) =>
      endedAfter === undefined
        ? 'not ended'
        : `${endedAfter}${endedShare < 0.5 ? ' (few)' : ''}, ${reasons.join(', ')}`,
    ),
    good: table(
      'good calls: 200; p50, p99 to calm',
      ({ goodShare, p50Ratio, p99Ratio }) =>
        `${rounded(goodShare * 100)} %; ${p50Ratio.toFixed(1)}, ${p99Ratio.toFixed(1)}`,
    ),
  }
}
