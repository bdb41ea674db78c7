import type { FeedLog } from '../../background/feed-log.ts'
import { type KeySet, type KeySetOptions, parseKeySet, secretAlone } from '../../token/key-set.ts'
import { openReloading, type ReloadingState } from '../feed/reloading.ts'
import { createWatchedDirectory, type Reading } from '../feed/watched-directory.ts'
import { isOpenToOthers, readKeyFiles, type StoredKeyFile } from './key-files.ts'

/** What operators see of the keys. Nothing of it is secret. */
interface KeyState extends ReloadingState {
  /** The `kid` that signs; `jwt.secret` when that does, `null` when no key can sign. */
  readonly signer: string | null
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[]
}

export interface OpenKeys {
  /** The keys to sign and verify with. A change makes another object. */
  readonly current: () => KeySet
  /** What `/readyz?verbose` shows. */
  readonly state: () => KeyState
  /** Calls back when other keys are active. */
  readonly onReload: (listener: () => void) => void
  readonly close: () => Promise<void>
}

interface KeyParts extends KeySetOptions {
  /** `jwt.keyDirectory`; without it, `secret` is required. */
  readonly directory?: string | undefined
  readonly log: FeedLog
}

/**
 * Loads the keys and keeps them up to date. An unusable directory is thrown at the start; later the
 * current keys stay active, and log and state have the reason.
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
    onReload() {},
    close: async () => {},
  }
}

async function openDirectory(directory: string, parts: KeyParts): Promise<OpenKeys> {
  const { log } = parts
  const listeners: (() => void)[] = []
  let rejected: { readonly checksum: string; readonly error: unknown } | undefined

  async function load({ files, checksum }: Reading<StoredKeyFile>): Promise<KeySet> {
    // Rejected files are not parsed again at every poll.
    if (rejected?.checksum === checksum) throw rejected.error
    try {
      const set = await parseKeySet(directory, files, parts)
      log.info(shown(set), 'keys loaded')
      warn(set, files, log)
      return set
    } catch (error) {
      rejected = { checksum, error }
      throw error
    }
  }

  const keys = await openReloading({
    watched: createWatchedDirectory({ directory, readFiles: readKeyFiles, part: 'keys' }),
    load,
    onReloaded() {
      for (const listener of listeners) listener()
    },
    onRejected: (reason, active) =>
      log.warn({ reason, ...shown(active) }, 'key update rejected; keeping the current keys'),
    onRecovered: (active) => log.info(shown(active), 'key directory recovered'),
  })
  return {
    ...keys,
    state: () => ({ ...shown(keys.current()), ...keys.state() }),
    onReload: (listener) => void listeners.push(listener),
  }
}

function warn(set: KeySet, files: readonly StoredKeyFile[], log: FeedLog): void {
  if (set.signer === undefined) log.warn({}, 'no signing key: login is unavailable')
  const exposed = exposedKeys(set, files)
  if (exposed.length === 0) return
  log.warn({ files: exposed }, 'private keys readable by other users: chmod 0400')
}

/** The private keys that users other than the owner can read. */
export function exposedKeys(set: KeySet, files: readonly StoredKeyFile[]): readonly string[] {
  const open = new Set(files.filter(isOpenToOthers).map(({ name }) => name))
  return set.entries
    .filter(({ signing, file }) => signing && open.has(file))
    .map(({ file }) => file)
}

function shown({ signer, entries }: KeySet): Pick<KeyState, 'signer' | 'keys'> {
  return {
    signer: signer === undefined ? null : (signer.kid ?? 'jwt.secret'),
    keys: entries.map(({ kid, key: { algorithm } }) => ({ kid, algorithm })),
  }
}
