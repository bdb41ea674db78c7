import { type MetricRegistry, secondsOf } from '../../metrics/registry.ts'
import { addReloadMetrics } from '../../metrics/reload-metrics.ts'
import type { OpenCertificate } from './certificate-feed.ts'

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
