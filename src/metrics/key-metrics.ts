import type { Figures } from './registry.ts'
import { addReloadMetrics, type Reloads } from './reload-metrics.ts'

/** What is known about the keys in force. */
interface CountedKeys {
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
  readonly lastError: string | undefined
  readonly reloads: Reloads
}

/** Shows which keys are in force, so that a rotation can be followed over all replicas. */
export function addKeyMetrics(figures: Figures, read: () => CountedKeys): void {
  figures.readGauge(
    {
      name: 'postern_key_info',
      help: 'Always 1; the labels name each key of the key directory, and say whether it signs.',
      labels: ['kid', 'algorithm', 'signs'],
      whole: 'max',
    },
    () => {
      const { keys, signer } = read()
      return keys.map(({ kid, algorithm }) => {
        return { value: 1, labels: { kid, algorithm, signs: String(kid === signer) } }
      })
    },
  )
  addReloadMetrics(
    figures,
    {
      prefix: 'postern_key',
      total:
        'New sets of keys that came into force (ok), and attempts that did not end well (failed).',
      success: '0 while the key directory cannot be used and the last good keys stay.',
    },
    () => {
      const { reloads, lastError } = read()
      return { reloads, isWell: lastError === undefined }
    },
  )
}
