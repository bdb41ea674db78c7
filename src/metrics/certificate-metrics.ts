import type { MetricRegistry } from './registry.ts'
import { addReloadMetrics, type Reloads } from './reload-metrics.ts'

interface CountedCertificate {
  readonly notAfter: string
  readonly lastError: string | undefined
  readonly reloads: Reloads
}

/** Shows expiry and reloads of the certificate. Returns the function that counts a failed handshake. */
export function addCertificateMetrics(
  registry: MetricRegistry,
  read: () => CountedCertificate,
): () => void {
  registry.readGauge(
    {
      name: 'postern_tls_certificate_not_after_seconds',
      help: 'Expiry of the certificate of the public port, in seconds since the epoch.',
      aggregate: 'min',
    },
    () => [{ value: Date.parse(read().notAfter) / 1000 }],
  )
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_tls',
      total: 'Certificate reloads: ok if the new certificate became active, failed if not.',
      success: '0 while the certificate files are unusable and the last good pair stays active.',
    },
    () => {
      const { reloads, lastError } = read()
      return { reloads, isWell: lastError === undefined }
    },
  )
  return registry.counter({
    name: 'postern_tls_handshake_failures_total',
    help: 'Failed TLS handshakes on the public port.',
  })
}
