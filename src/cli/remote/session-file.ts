import { hash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Fault } from '../../kernel/errors.ts'
import { hasStrings, readJson } from '../../kernel/json.ts'
import type { Io } from '../io.ts'
import type { Gateway } from './gateway.ts'

/** A login at a console, as this machine keeps it. */
export interface StoredSession {
  /** The origin that issued it, and the only one that gets it. */
  readonly gateway: string
  /** `name=value`, as it is sent. */
  readonly cookie: string
  readonly username: string
}

const maxBytes = 64 * 1024

/** The file of the session at this gateway. XDG: state that need not survive, of this user only. */
function fileOf({ origin }: Gateway, { env }: Pick<Io, 'env'>): string {
  const { XDG_STATE_HOME: stateHome = '', HOME: home } = env
  const state = isAbsolute(stateHome) ? stateHome : join(home || homedir(), '.local', 'state')
  return join(state, 'postern', 'sessions', `${hash('sha256', origin).slice(0, 16)}.json`)
}

/** Reads it. `undefined`: there is none. Throws a Fault for one that others can read. */
export async function readSession(
  gateway: Gateway,
  io: Pick<Io, 'env'>,
): Promise<StoredSession | undefined> {
  const file = fileOf(gateway, io)
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw new Fault('gateway', { reason: `${file} cannot be read (${error.code})` })
  })
  if (handle === undefined) return undefined
  try {
    const { mode, size } = await handle.stat()
    if ((mode & 0o077) !== 0) {
      const reason = `other users can read the session in ${file}: delete the file and log in again`
      throw new Fault('gateway', { reason })
    }
    const found = size > maxBytes ? undefined : readJson(await handle.readFile('utf8'))
    const isSession = hasStrings(found, ['gateway', 'cookie', 'username'])
    return isSession && found['gateway'] === gateway.origin
      ? (found as unknown as StoredSession)
      : undefined
  } finally {
    await handle.close()
  }
}

/** Keeps it. The file is never readable by others, not even for a moment. */
export async function writeSession(
  gateway: Gateway,
  session: StoredSession,
  io: Pick<Io, 'env'>,
): Promise<void> {
  const file = fileOf(gateway, io)
  const unfinished = `${file}.${randomUUID()}`
  try {
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
    await writeFile(unfinished, JSON.stringify(session), { flag: 'wx', mode: 0o600 })
    await rename(unfinished, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    await rm(unfinished, { force: true })
    throw new Fault('gateway', { reason: `${file} cannot be written (${code})` })
  }
}

export async function removeSession(gateway: Gateway, io: Pick<Io, 'env'>): Promise<void> {
  await rm(fileOf(gateway, io), { force: true })
}
