import { type MetricRegistry, secondsOf } from '../../metrics/registry.ts'
import { addReloadMetrics } from '../../metrics/reload-metrics.ts'
import type { OpenIssuers } from '../../token/issuers/open-issuers.ts'
import type { OpenCertificate } from './certificate-feed.ts'
import type { OpenKeys } from './key-feed.ts'

/** Shows the active keys, so that operators can follow a rotation over all replicas. */
export function addKeyMetrics(registry: MetricRegistry, read: OpenKeys['state']): void {
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

/** Shows for each other issuer whether its keys are fetched, before they are too old to be used. */
export function addIssuerMetrics(registry: MetricRegistry, read: OpenIssuers['states']): void {
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

/** Shows expiry and reloads of the certificate. Returns the function that counts a failed handshake. */
export function addCertificateMetrics(
  registry: MetricRegistry,
  read: OpenCertificate['state'],
): () => void {
  registry.readGauge({
    name: 'postern_tls_certificate_not_after_seconds',
    help: 'Expiry of the certificate of the public port, in seconds since the epoch.',
    aggregate: 'min',
    read: () => secondsOf(read().notAfter),
  })
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_tls',
      total: 'Certificate reloads: ok if the new certificate became active, failed if not.',
      success: '0 while the certificate files are unusable and the last good pair stays active.',
    },
    read,
  )
  return registry.counter({
    name: 'postern_tls_handshake_failures_total',
    help: 'Failed TLS handshakes on the public port.',
  })
}
