import type { MetricRegistry } from './registry.ts'

/** How many reloads became active, how many failed, and why the last one failed, if it did. */
export interface CountedReloads {
  readonly reloads: { readonly ok: number; readonly failed: number }
  readonly lastError: string | undefined
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
  read: () => CountedReloads,
): void {
  registry.readCounter({
    name: `${prefix}_reloads_total`,
    help: total,
    labels: ['result'],
    read: () => {
      const { ok, failed } = read().reloads
      return [
        [ok, 'ok'],
        [failed, 'failed'],
      ]
    },
  })
  registry.readGauge({
    name: `${prefix}_last_reload_success`,
    help: success,
    aggregate: 'min',
    read: () => (read().lastError === undefined ? 1 : 0),
  })
}
