import type { AggregateRule, MetricSnapshot, SnapshotValue } from './snapshot.ts'

/** The metrics of one process. `worker` becomes a label where each worker keeps its own value. */
interface ProcessMetrics {
  readonly worker?: number | undefined
  readonly metrics: readonly MetricSnapshot[]
}

interface Joined {
  readonly meta: Omit<MetricSnapshot, 'values'>
  readonly values: Map<string, SnapshotValue>
}

/**
 * One set of metrics for several processes. Counters and histograms are summed; gauges follow their
 * rule, and gauges without one get the label `worker`.
 */
export function aggregateMetrics(sets: readonly ProcessMetrics[]): readonly MetricSnapshot[] {
  const all = new Map<string, Joined>()
  for (const { worker, metrics } of sets) {
    for (const { values, ...meta } of metrics) {
      const joined = all.get(meta.name) ?? { meta, values: new Map() }
      all.set(meta.name, joined)
      for (const value of values) add(joined, value, worker)
    }
  }
  return [...all.values()].map(({ meta, values }) => ({ ...meta, values: [...values.values()] }))
}

function add({ meta, values }: Joined, one: SnapshotValue, worker: number | undefined): void {
  // The event-loop delay is NaN until its first sample, and JSON turns that into null.
  if (!Number.isFinite(one.value)) return
  const rule = ruleFor(meta, one)
  const own = rule === undefined && worker !== undefined
  const shown = own ? { ...one, labels: { ...one.labels, worker: String(worker) } } : one
  const key = JSON.stringify([one.metricName, Object.entries(shown.labels).sort()])
  const known = values.get(key)
  values.set(key, known === undefined ? shown : { ...known, value: join(rule, known, shown) })
}

function ruleFor(
  { type, aggregate }: Joined['meta'],
  one: SnapshotValue,
): AggregateRule | undefined {
  if (type === 'gauge') return aggregate
  return isQuantile(type, one) ? 'max' : 'sum'
}

function join(rule: AggregateRule | undefined, one: SnapshotValue, other: SnapshotValue): number {
  if (rule === 'max') return Math.max(one.value, other.value)
  if (rule === 'min') return Math.min(one.value, other.value)
  return rule === 'sum' ? one.value + other.value : other.value
}

/** What still counts after the process has exited: everything that only grows. */
function lasting(metrics: readonly MetricSnapshot[]): readonly MetricSnapshot[] {
  return metrics
    .filter(({ type }) => type !== 'gauge')
    .map((metric) => ({
      ...metric,
      values: metric.values.filter((one) => !isQuantile(metric.type, one)),
    }))
}

function isQuantile(type: MetricSnapshot['type'], { labels }: SnapshotValue): boolean {
  return type === 'summary' && Object.hasOwn(labels, 'quantile')
}

/**
 * The metrics of a changing set of workers. The counts of a worker that has exited are kept, because a
 * counter must never decrease. What it counted after its last report is lost.
 */
export function createAggregateMetrics() {
  const newest = new Map<number, readonly MetricSnapshot[]>()
  let exited: readonly MetricSnapshot[] = []

  return {
    /** Newer metrics of a running worker; others of it stay as they were. */
    take(worker: number, metrics: readonly MetricSnapshot[]) {
      const names = new Set(metrics.map(({ name }) => name))
      const others = newest.get(worker)?.filter(({ name }) => !names.has(name)) ?? []
      newest.set(worker, [...metrics, ...others])
    },
    /** A worker has exited; the next one under its number starts at 0. */
    ended(worker: number) {
      const last = newest.get(worker)
      newest.delete(worker)
      if (last !== undefined)
        exited = aggregateMetrics([{ metrics: exited }, { metrics: lasting(last) }])
    },
    /** Everything together, with the metrics of the aggregating process. */
    joined: (own: readonly MetricSnapshot[]) =>
      aggregateMetrics([
        { metrics: own },
        { metrics: exited },
        ...[...newest].map(([worker, metrics]) => ({ worker, metrics })),
      ]),
  }
}

export type AggregateMetrics = ReturnType<typeof createAggregateMetrics>
