import type { MetricRegistry } from './registry.ts'

/** How many reloads became active, and how many failed. */
export interface Reloads {
  readonly ok: number
  readonly failed: number
}

interface ReloadTexts {
  /** Prefix of the metric names. */
  readonly prefix: string
  readonly total: string
  readonly success: string
}

/** Counts reloads by result, and shows whether the last one succeeded. */
export function addReloadMetrics(
  registry: MetricRegistry,
  { prefix, total, success }: ReloadTexts,
  read: () => { readonly reloads: Reloads; readonly isWell: boolean },
): void {
  registry.readCounter({ name: `${prefix}_reloads_total`, help: total, labels: ['result'] }, () => {
    const { ok, failed } = read().reloads
    return [
      { value: ok, labels: { result: 'ok' } },
      { value: failed, labels: { result: 'failed' } },
    ]
  })
  registry.readGauge(
    { name: `${prefix}_last_reload_success`, help: success, aggregate: 'min' },
    () => [{ value: read().isWell ? 1 : 0 }],
  )
}
