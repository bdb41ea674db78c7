import type { MetricRegistry } from './registry.ts'

interface CountedShadow {
  readonly revision: string
  /** Absent while it is not evaluated. */
  readonly since: string | undefined
}

interface ShadowTotals {
  readonly same: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  readonly failed: number
}

/** Shows which shadow is evaluated, and how often it differs from the live policy. */
export function addShadowMetrics(
  registry: MetricRegistry,
  read: () => CountedShadow | undefined,
  totals: () => ShadowTotals,
): void {
  registry.readGauge(
    {
      name: 'postern_policy_shadow_active',
      help: '1 while this gateway evaluates the shadow policy, 0 while it cannot; absent without one.',
      labels: ['revision'],
      aggregate: 'min',
    },
    () => {
      const shadow = read()
      if (shadow === undefined) return []
      const { revision, since } = shadow
      return [{ value: since === undefined ? 0 : 1, labels: { revision } }]
    },
  )
  registry.readCounter(
    {
      name: 'postern_policy_shadow_decisions_total',
      help: 'Decisions that the shadow policy was asked about: same as the live one, would-deny, would-allow, or failed.',
      labels: ['result'],
    },
    () => {
      const { same, wouldDeny, wouldAllow, failed } = totals()
      return [
        { value: same, labels: { result: 'same' } },
        { value: wouldDeny, labels: { result: 'would-deny' } },
        { value: wouldAllow, labels: { result: 'would-allow' } },
        { value: failed, labels: { result: 'failed' } },
      ]
    },
  )
}
