import { dirname } from 'node:path'
import { Invalid } from '../../errors.ts'
import { createPolling } from '../feed/polling.ts'
import { createReloadStatus } from '../feed/reload-status.ts'
import { createWatchedDirectory, type Reading } from '../feed/watched-directory.ts'
import { type CertificatePair, checkPair, type PemFile, readPemFile } from './pem-files.ts'

/** What operators see of the certificate. */
interface CertificateState {
  /** The names it is for. */
  readonly names: string
  readonly notAfter: string
  readonly fingerprint: string
  /** When it came into force here. */
  readonly since: string
  /** Why what the files hold now is not in force, if so. */
  readonly lastError: string | undefined
  readonly reloads: { readonly ok: number; readonly failed: number }
}

interface OpenCertificate {
  readonly current: () => CertificatePair
  /** Calls back with each new pair that came into force. */
  readonly onChange: (listener: (pair: CertificatePair) => void) => void
  readonly state: () => CertificateState
  readonly close: () => Promise<void>
}

interface CertificateParts {
  readonly certFile: string
  readonly keyFile: string
  readonly log: {
    info(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** How long a change may go unnoticed where the system does not tell of it. */
const pollMs = 2000

/**
 * Reads the pair and keeps it up to date. A pair that cannot be used is thrown at the start; later
 * the one in force stays, and what is wrong is said in log and state.
 */
export async function openCertificate(parts: CertificateParts): Promise<OpenCertificate> {
  const { certFile, keyFile, log, now = Date.now } = parts
  const watched = createWatchedDirectory<PemFile>({
    directory: dirname(certFile),
    readFiles: () => Promise.all([readPemFile(certFile), readPemFile(keyFile)]),
    part: 'certificate',
  })
  const reloads = createReloadStatus((reason) => {
    log.warn({ reason, ...shown(active) }, 'new certificate rejected; keeping the current one')
  }, now)
  let changed: (pair: CertificatePair) => void = () => {}
  let active = take(await watched.read(undefined))
  log.info(shown(active), 'certificate loaded')
  if (active.expired()) log.warn(shown(active), 'certificate has expired')

  function take(reading: Reading<PemFile> | undefined) {
    const [cert, key] = reading?.files ?? []
    if (cert === undefined || key === undefined) throw new Error('a reading without its files')
    const { subjectAltName = '', validToDate, fingerprint256 } = checkPair(cert, key)
    return {
      pair: { cert: cert.text, key: key.text },
      checksum: reading?.checksum ?? '',
      names: subjectAltName,
      notAfter: validToDate.toISOString(),
      fingerprint: fingerprint256,
      since: new Date(now()).toISOString(),
      expired: () => validToDate.getTime() <= now(),
    }
  }

  async function attempt(): Promise<void> {
    try {
      const reading = await watched.read(active.checksum)
      if (reading !== undefined) {
        const next = take(reading)
        // Clients would turn away from it, and the one in force may still be good.
        if (next.expired()) throw new Invalid([{ file: certFile, message: 'has expired' }])
        active = next
        reloads.loaded()
        log.info(shown(active), 'certificate loaded')
        changed(active.pair)
      }
      if (reloads.succeeded() && reading === undefined) {
        log.info(shown(active), 'certificate files recovered')
      }
    } catch (error) {
      reloads.failed(error)
    }
    await watched.check()
  }

  const polling = createPolling(attempt, pollMs)
  watched.watch(() => void polling.now())
  await polling.now()
  return {
    current: () => active.pair,
    onChange(listener) {
      changed = listener
    },
    state: () => ({
      ...shown(active),
      lastError: reloads.failure()?.text,
      reloads: reloads.reloads(),
    }),
    async close() {
      await polling.close()
      await watched.close()
    },
  }
}

function shown({ names, notAfter, fingerprint, since }: CertificateState | Shown): Shown {
  return { names, notAfter, fingerprint, since }
}

type Shown = Pick<CertificateState, 'names' | 'notAfter' | 'fingerprint' | 'since'>
