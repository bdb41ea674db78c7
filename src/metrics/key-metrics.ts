import type { MetricRegistry } from './registry.ts'
import { addReloadMetrics, type CountedReloads } from './reload-metrics.ts'

interface CountedKeys extends CountedReloads {
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
}

/** Shows the active keys, so that operators can follow a rotation over all replicas. */
export function addKeyMetrics(registry: MetricRegistry, read: () => CountedKeys): void {
  registry.readGauge({
    name: 'postern_key_info',
    help: 'Always 1; one series per key of the key directory, with a label that says whether it signs.',
    labels: ['kid', 'algorithm', 'signs'],
    aggregate: 'max',
    read: () => {
      const { keys, signer } = read()
      return keys.map(({ kid, algorithm }) => {
        return [1, kid, algorithm, String(kid === signer)]
      })
    },
  })
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_key',
      total: 'Reloads of the key directory: ok if the new keys became active, failed if not.',
      success: '0 while the key directory is unusable and the last good keys stay active.',
    },
    read,
  )
}

interface CountedIssuer {
  readonly name: string
  readonly keys: readonly unknown[]
  readonly keyAgeSeconds: number | null
  readonly fetches: { readonly ok: number; readonly failed: number }
}

/** Shows for each other issuer whether its keys are fetched, before they are too old to be used. */
export function addIssuerMetrics(
  registry: MetricRegistry,
  read: () => readonly CountedIssuer[],
): void {
  registry.readCounter({
    name: 'postern_issuer_key_fetches_total',
    help: 'Fetches of the keys of another issuer, by result.',
    labels: ['issuer', 'result'],
    read: () =>
      read().flatMap(({ name: issuer, fetches: { ok, failed } }) => [
        [ok, issuer, 'ok'],
        [failed, issuer, 'failed'],
      ]),
  })
  registry.readGauge({
    name: 'postern_issuer_keys',
    help: 'Usable keys of another issuer. 0: its tokens get 503.',
    labels: ['issuer'],
    aggregate: 'min',
    read: () => read().map(({ name: issuer, keys }) => [keys.length, issuer]),
  })
  registry.readGauge({
    name: 'postern_issuer_key_age_seconds',
    help: 'Time since the keys of another issuer were last fetched. Missing before the first fetch.',
    labels: ['issuer'],
    aggregate: 'max',
    read: () =>
      read().flatMap(({ name: issuer, keyAgeSeconds }) =>
        keyAgeSeconds === null ? [] : [[keyAgeSeconds, issuer]],
      ),
  })
}
