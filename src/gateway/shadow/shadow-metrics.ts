import type { MetricRegistry } from '../../metrics/registry.ts'
import type { ShadowComparison } from './shadow-comparison.ts'

interface CountedShadow {
  readonly revision: string
  /** Absent while it is not evaluated. */
  readonly since: string | undefined
}

/** Shows which shadow is evaluated, and how often it differs from the live policy. */
export function addShadowMetrics(
  registry: MetricRegistry,
  read: () => CountedShadow | undefined,
  totals: () => ReturnType<ShadowComparison['totals']>,
): void {
  registry.readGauge({
    name: 'postern_policy_shadow_active',
    help: '1 while this gateway evaluates the shadow policy, 0 while it cannot; absent without one.',
    labels: ['revision'],
    aggregate: 'min',
    read: () => {
      const shadow = read()
      if (shadow === undefined) return []
      const { revision, since } = shadow
      return [[since === undefined ? 0 : 1, revision]]
    },
  })
  registry.readCounter({
    name: 'postern_policy_shadow_decisions_total',
    help: 'Decisions that the shadow policy was asked about: same as the live one, would-deny, would-allow, or failed.',
    labels: ['result'],
    read: () => {
      const { same, wouldDeny, wouldAllow, failed } = totals()
      return [
        [same, 'same'],
        [wouldDeny, 'would-deny'],
        [wouldAllow, 'would-allow'],
        [failed, 'failed'],
      ]
    },
  })
}
