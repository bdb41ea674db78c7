import { dirname } from 'node:path'
import type { FeedLog } from '../../background/feed-log.ts'
import { Invalid } from '../../kernel/errors.ts'
import {
  type CertificatePair,
  checkPair,
  type PemFile,
  readPemFile,
} from '../../kernel/pem-files.ts'
import { openReloading } from '../feed/reloading.ts'
import { createWatchedDirectory, type Reading } from '../feed/watched-directory.ts'

export type OpenCertificate = Awaited<ReturnType<typeof openCertificate>>

interface CertificateParts {
  readonly certFile: string
  readonly keyFile: string
  readonly log: FeedLog
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/**
 * Loads the pair and keeps it up to date. An unusable pair is thrown at the start; later the current
 * one stays active, and log and state have the reason.
 */
export async function openCertificate(parts: CertificateParts) {
  const { certFile, keyFile, log, now = Date.now } = parts
  let changed: (pair: CertificatePair) => void = () => {}
  let isReload = false

  function load({ files: [cert, key] }: Reading<PemFile>) {
    if (cert === undefined || key === undefined) throw new Error('a reading without its files')
    const { subjectAltName: names = '', validToDate, fingerprint256 } = checkPair(cert, key)
    const isExpired = validToDate.getTime() <= now()
    // The current certificate may still be valid.
    if (isReload && isExpired) throw new Invalid([{ file: certFile, message: 'has expired' }])
    isReload = true
    const shown = {
      names,
      notAfter: validToDate.toISOString(),
      fingerprint: fingerprint256,
      since: new Date(now()).toISOString(),
    }
    log.info(shown, 'certificate loaded')
    if (isExpired) log.warn(shown, 'certificate has expired')
    return { pair: { cert: cert.text, key: key.text }, shown }
  }

  const certificate = await openReloading({
    watched: createWatchedDirectory<PemFile>({
      directory: dirname(certFile),
      readFiles: () => Promise.all([readPemFile(certFile), readPemFile(keyFile)]),
      part: 'certificate',
    }),
    load,
    onReloaded: ({ pair }) => changed(pair),
    onRejected: (reason, { shown }) =>
      log.warn({ reason, ...shown }, 'new certificate rejected; keeping the current one'),
    onRecovered: ({ shown }) => log.info(shown, 'certificate files recovered'),
    now,
  })
  return {
    current: (): CertificatePair => certificate.current().pair,
    /** Calls back with each pair that replaces the current one. */
    onChange(listener: (pair: CertificatePair) => void) {
      changed = listener
    },
    /** What operators see of it. */
    state: () => ({ ...certificate.current().shown, ...certificate.state() }),
    close: certificate.close,
  }
}
