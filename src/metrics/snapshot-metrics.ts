import type { Figures } from './registry.ts'

/** What is known about a file that keeps a copy of something live. */
export interface CountedSnapshot {
  /** `undefined` while nothing is live. */
  readonly current: boolean | undefined
  readonly failures: number
}

interface SnapshotTexts {
  /** What the names begin with, such as `postern_policy`. */
  readonly prefix: string
  readonly current: string
  readonly failures: string
}

/** Shows whether a snapshot is up to date; nothing where there is none. */
export function addSnapshotMetrics(
  figures: Figures,
  { prefix, current, failures }: SnapshotTexts,
  read: () => CountedSnapshot | undefined,
): void {
  figures.readGauge({ name: `${prefix}_snapshot_current`, help: current, whole: 'min' }, () => {
    const isCurrent = read()?.current
    return isCurrent === undefined ? [] : [{ value: isCurrent ? 1 : 0 }]
  })
  figures.readCounter({ name: `${prefix}_snapshot_write_failures_total`, help: failures }, () => {
    const snapshot = read()
    return snapshot === undefined ? [] : [{ value: snapshot.failures }]
  })
}
