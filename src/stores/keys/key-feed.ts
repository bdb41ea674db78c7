import { type KeySet, type KeySetOptions, parseKeySet, secretAlone } from '../../token/key-set.ts'
import { createPolling } from '../feed/polling.ts'
import { createReloadStatus } from '../feed/reload-status.ts'
import { createWatchedDirectory, type Reading } from '../feed/watched-directory.ts'
import { isOpenToOthers, readKeyFiles, type StoredKeyFile } from './key-files.ts'

/** What operators see of the keys. Nothing of it is secret. */
interface KeyState {
  /** The `kid` that signs; `jwt.secret` when that does, `null` when nothing here can. */
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
  /** When this set came into force. */
  readonly since: string
  /** Why the newest state of the directory is not in force, if so. */
  readonly lastError: string | undefined
  readonly reloads: { readonly ok: number; readonly failed: number }
}

export interface OpenKeys {
  /** The keys to sign and verify with. A change makes another object. */
  readonly current: () => KeySet
  /** What `/readyz?verbose` shows. */
  readonly state: () => KeyState
  readonly close: () => Promise<void>
}

interface KeyParts extends KeySetOptions {
  /** `jwt.keyDirectory`; without it there must be a `secret`. */
  readonly directory?: string | undefined
  readonly log: KeyLog
}

interface KeyLog {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

/** How long a change may go unnoticed where the system does not tell of it. */
const pollMs = 2000

/**
 * Brings the keys into force and keeps them up to date. A directory that cannot be used is thrown
 * at the start; later the keys in force stay, and what is wrong is said in log and state.
 */
export async function openKeys(parts: KeyParts): Promise<OpenKeys> {
  const { directory, secret } = parts
  if (directory !== undefined) return openDirectory(directory, parts)
  if (secret === undefined) throw new Error('neither a key directory nor a secret')
  const set = secretAlone(secret)
  const since = new Date().toISOString()
  const reloads = { ok: 0, failed: 0 }
  return {
    current: () => set,
    state: () => ({ ...shown(set), since, lastError: undefined, reloads }),
    close: async () => {},
  }
}

async function openDirectory(directory: string, parts: KeyParts): Promise<OpenKeys> {
  const { log } = parts
  const watched = createWatchedDirectory({ directory, readFiles: readKeyFiles, part: 'keys' })
  const prepare = createPrepare(directory, parts)
  const reloads = createReloadStatus((reason) =>
    log.warn({ reason, ...shown(active.set) }, 'key update rejected; keeping the current keys'),
  )
  let active = await take(await watched.read(undefined))

  async function take(reading: Reading<StoredKeyFile> = { files: [], checksum: '' }) {
    const set = await prepare(reading)
    log.info(shown(set), 'keys loaded')
    warn(set, reading.files, log)
    return { set, checksum: reading.checksum, since: new Date().toISOString() }
  }

  async function attempt(): Promise<void> {
    try {
      const reading = await watched.read(active.checksum)
      if (reading !== undefined) {
        active = await take(reading)
        reloads.loaded()
      }
      if (reloads.succeeded() && reading === undefined) {
        log.info(shown(active.set), 'key directory recovered')
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
    current: () => active.set,
    state: () => ({
      ...shown(active.set),
      since: active.since,
      lastError: reloads.failure()?.text,
      reloads: reloads.reloads(),
    }),
    async close() {
      await polling.close()
      await watched.close()
    },
  }
}

/** Parses aside. What was found bad is not parsed again at every poll. */
function createPrepare(directory: string, options: KeySetOptions) {
  let refused: { readonly checksum: string; readonly error: unknown } | undefined

  return async ({ files, checksum }: Reading<StoredKeyFile>): Promise<KeySet> => {
    if (refused?.checksum === checksum) throw refused.error
    try {
      return await parseKeySet(directory, files, options)
    } catch (error) {
      refused = { checksum, error }
      throw error
    }
  }
}

function warn(set: KeySet, files: readonly StoredKeyFile[], log: KeyLog): void {
  if (set.signer === undefined) log.warn({}, 'no signing key: login is unavailable')
  const open = new Set(files.filter(isOpenToOthers).map(({ name }) => name))
  const exposed = set.entries.filter(({ signing, file }) => signing && open.has(file))
  if (exposed.length === 0) return
  log.warn(
    { files: exposed.map(({ file }) => file) },
    'private keys readable by other users: chmod 0400',
  )
}

function shown({ signer, entries }: KeySet): Pick<KeyState, 'signer' | 'keys'> {
  return {
    signer: signer === undefined ? null : (signer.kid ?? 'jwt.secret'),
    keys: entries.map(({ kid, key: { algorithm } }) => ({ kid, algorithm })),
  }
}
