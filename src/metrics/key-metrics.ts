import type { MetricRegistry } from './registry.ts'
import { addReloadMetrics, type Reloads } from './reload-metrics.ts'

interface CountedKeys {
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
  readonly lastError: string | undefined
  readonly reloads: Reloads
}

/** Shows the active keys, so that operators can follow a rotation over all replicas. */
export function addKeyMetrics(registry: MetricRegistry, read: () => CountedKeys): void {
  registry.readGauge(
    {
      name: 'postern_key_info',
      help: 'Always 1; one series per key of the key directory, with a label that says whether it signs.',
      labels: ['kid', 'algorithm', 'signs'],
      aggregate: 'max',
    },
    () => {
      const { keys, signer } = read()
      return keys.map(({ kid, algorithm }) => {
        return { value: 1, labels: { kid, algorithm, signs: String(kid === signer) } }
      })
    },
  )
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_key',
      total: 'Reloads of the key directory: ok if the new keys became active, failed if not.',
      success: '0 while the key directory is unusable and the last good keys stay active.',
    },
    () => {
      const { reloads, lastError } = read()
      return { reloads, isWell: lastError === undefined }
    },
  )
}
