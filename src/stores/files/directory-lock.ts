import { open } from 'node:fs/promises'

/** Held until released, or until the process exits in any way. */
export interface DirectoryLock {
  release(): void
}

const busy = 5

/**
 * Takes the lock on a file, or returns `undefined` when a process holds it. The lock is the operating
 * system's, through SQLite: it cannot outlive its holder, so a lock is never stale and two processes
 * cannot both take one over.
 */
export async function takeLock(file: string): Promise<DirectoryLock | undefined> {
  await makeFile(file)
  const { DatabaseSync } = await import('node:sqlite')
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    // In memory, or a journal file would lie beside the lock.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => lock.close() }
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined
    throw error
  }
}

async function makeFile(file: string): Promise<void> {
  try {
    // Created, and never opened again by us: closing any handle on a file drops every lock that this
    // process has on it (POSIX, fcntl).
    await (await open(file, 'wx', 0o600)).close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
