import type { Figures } from './registry.ts'

/** What is known about the keys in force. */
export interface CountedKeys {
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
  readonly lastError: string | undefined
  readonly reloads: { readonly ok: number; readonly failed: number }
}

/** Shows which keys are in force, so that a rotation can be followed over all replicas. */
export function addKeyMetrics(figures: Figures, read: () => CountedKeys): void {
  figures.readGauge(
    {
      name: 'postern_key_info',
      help: 'Always 1; the labels name each key of the key directory, and say whether it signs.',
      labels: ['kid', 'algorithm', 'signs'],
    },
    () => {
      const { keys, signer } = read()
      return keys.map(({ kid, algorithm }) => {
        return { value: 1, labels: { kid, algorithm, signs: String(kid === signer) } }
      })
    },
  )
  figures.readCounter(
    {
      name: 'postern_key_reloads_total',
      help: 'New sets of keys that came into force (ok), and attempts that did not end well (failed).',
      labels: ['result'],
    },
    () => {
      const { ok, failed } = read().reloads
      return [
        { value: ok, labels: { result: 'ok' } },
        { value: failed, labels: { result: 'failed' } },
      ]
    },
  )
  figures.readGauge(
    {
      name: 'postern_key_last_reload_success',
      help: '0 while the key directory cannot be used and the last good keys stay.',
    },
    () => [{ value: read().lastError === undefined ? 1 : 0 }],
  )
}
