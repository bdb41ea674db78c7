import type { Figures } from './registry.ts'

/** How taking in something new goes: what came into force, and attempts that did not end well. */
export interface Reloads {
  readonly ok: number
  readonly failed: number
}

/** What is taken in, and the figures' words for it. */
interface ReloadWords {
  /** What the names of the figures begin with. */
  readonly prefix: string
  readonly total: string
  readonly success: string
}

/** Counts reloads by result, and shows while the last attempt failed and the last good one stays. */
export function addReloadMetrics(
  figures: Figures,
  { prefix, total, success }: ReloadWords,
  read: () => { readonly reloads: Reloads; readonly isWell: boolean },
): void {
  figures.readCounter({ name: `${prefix}_reloads_total`, help: total, labels: ['result'] }, () => {
    const { ok, failed } = read().reloads
    return [
      { value: ok, labels: { result: 'ok' } },
      { value: failed, labels: { result: 'failed' } },
    ]
  })
  figures.readGauge({ name: `${prefix}_last_reload_success`, help: success, whole: 'min' }, () => [
    { value: read().isWell ? 1 : 0 },
  ])
}
