/** How one value comes out of those of several workers. */
export type WholeRule = 'sum' | 'max' | 'min'

/** One value of a figure with its labels. */
export interface SnapshotValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** Of a histogram: which of its parts. */
  readonly metricName?: string
}

/** A figure of one process at one moment, as data that can be sent. */
export interface FigureSnapshot {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  /** For gauges; without it every worker has a value of its own. */
  readonly whole: WholeRule | undefined
  readonly values: readonly SnapshotValue[]
}

/**
 * The rules of what Node and the system say of a process. Memory and handles add up; of the event
 * loop the worst counts; files are counted against a limit that every process has for itself; and
 * the supervisor is the oldest.
 */
const ofProcess: readonly (readonly [RegExp, WholeRule])[] = [
  [/^process_(?:resident_memory|virtual_memory|heap)_bytes$/, 'sum'],
  [/^nodejs_(?:heap|external_memory|active)_/, 'sum'],
  [/^nodejs_eventloop_lag_min_seconds$/, 'min'],
  [/^nodejs_eventloop_lag_/, 'max'],
  [/^process_open_fds$/, 'max'],
  [/^process_(?:max_fds|start_time_seconds)$/, 'min'],
  [/^nodejs_version_info$/, 'max'],
]

/** What several processes make of a figure that is not ours. */
export function wholeRuleOf(name: string): WholeRule | undefined {
  return ofProcess.find(([form]) => form.test(name))?.[1]
}
