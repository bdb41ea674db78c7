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
      help: 'Always 1; one series per key of the key directory, with a label that says whether it signs.',
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
      total: 'Reloads of the key directory: ok if the new keys became active, failed if not.',
      success: '0 while the key directory is unusable and the last good keys stay active.',
    },
    () => {
      const { reloads, lastError } = read()
      return { reloads, isWell: lastError === undefined }
    },
  )
}
