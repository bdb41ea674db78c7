import type { Figures } from './registry.ts'
import { addReloadMetrics, type Reloads } from './reload-metrics.ts'

/** What is known about the certificate of the public port. */
interface CountedCertificate {
  readonly notAfter: string
  readonly lastError: string | undefined
  readonly reloads: Reloads
}

/**
 * Shows how long the certificate is still good, how reloading it goes, and how many clients did not
 * come to speak TLS with us. Returns what counts one of those.
 */
export function addCertificateMetrics(
  figures: Figures,
  read: () => CountedCertificate,
): () => void {
  figures.readGauge(
    {
      name: 'postern_tls_certificate_not_after_seconds',
      help: 'Expiry of the certificate of the public port, in seconds since the epoch.',
      whole: 'min',
    },
    () => [{ value: Date.parse(read().notAfter) / 1000 }],
  )
  addReloadMetrics(
    figures,
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
  return figures.counter({
    name: 'postern_tls_handshake_failures_total',
    help: 'Failed TLS handshakes on the public port.',
  })
}
