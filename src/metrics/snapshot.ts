/** How the values of several workers become one. */
export type AggregateRule = 'sum' | 'max' | 'min'

/** One value of a metric with its labels. */
export interface SnapshotValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** For histograms: the name of the series, such as `…_bucket`. */
  readonly metricName?: string
}

/** A metric of one process at one moment, as data for another process. */
export interface MetricSnapshot {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** For gauges. Unset: each worker keeps its own value. */
  readonly aggregate: AggregateRule | undefined
  readonly values: readonly SnapshotValue[]
}

/**
 * Rules for the metrics of Node and the system. Memory and handles are summed. The worst event loop
 * counts. Each process has a file limit of its own, so the fullest counts. The supervisor is the oldest.
 */
const ofProcess: readonly (readonly [RegExp, AggregateRule])[] = [
  [/^process_(?:resident_memory|virtual_memory|heap)_bytes$/, 'sum'],
  [/^nodejs_(?:heap|external_memory|active)_/, 'sum'],
  [/^nodejs_eventloop_lag_min_seconds$/, 'min'],
  [/^nodejs_eventloop_lag_/, 'max'],
  [/^process_open_fds$/, 'max'],
  [/^process_(?:max_fds|start_time_seconds)$/, 'min'],
  [/^nodejs_version_info$/, 'max'],
]

/** The rule for a metric that is not ours. */
export function aggregateRuleOf(name: string): AggregateRule | undefined {
  return ofProcess.find(([form]) => form.test(name))?.[1]
}
