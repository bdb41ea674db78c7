import type { MetricRegistry } from './registry.ts'

/** A file that keeps a copy of live data. */
interface CountedSnapshot {
  /** `undefined` while there is no live data. */
  readonly current: boolean | undefined
  readonly failures: number
}

interface SnapshotTexts {
  /** Prefix of the metric names, such as `postern_policy`. */
  readonly prefix: string
  readonly current: string
  readonly failures: string
}

/** Shows whether a snapshot is up to date; no series where no snapshot is configured. */
export function addSnapshotMetrics(
  registry: MetricRegistry,
  { prefix, current, failures }: SnapshotTexts,
  read: () => CountedSnapshot | undefined,
): void {
  registry.readGauge({
    name: `${prefix}_snapshot_current`,
    help: current,
    aggregate: 'min',
    read: () => {
      const isCurrent = read()?.current
      return isCurrent === undefined ? undefined : Number(isCurrent)
    },
  })
  registry.readCounter({
    name: `${prefix}_snapshot_write_failures_total`,
    help: failures,
    read: () => read()?.failures,
  })
}
