import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Keep, LargeOffer, Offer, PolicyLog } from './policy-source.ts'
import { formatSnapshot, parseSnapshot } from './snapshot-text.ts'

/** How often the file is told that the source still says the same. */
const CONFIRM_MS = 15_000

/**
 * Keeps the last good policy in a file: replaced whole, readable by nobody else, with its checksum
 * in the first line. Its time is that of the last confirmation. A file that does not fit its
 * checksum is not used. Failing to write costs a log line and nothing else.
 */
export function createPolicySnapshot(file: string, log: PolicyLog): Keep {
  let waiting: Offer | LargeOffer | undefined
  let writing: Promise<void> | undefined
  let confirmedAt = 0

  async function attempt(work: () => Promise<void>, what: string): Promise<void> {
    try {
      await work()
    } catch (error) {
      log.warn({ file, reason: error instanceof Error ? error.message : String(error) }, what)
    }
  }

  async function writeWaiting(): Promise<void> {
    while (waiting !== undefined) {
      const offer = waiting
      waiting = undefined
      await attempt(
        async () => replaceFile(file, await snapshotOf(offer)),
        'the policy snapshot was not written',
      )
    }
    writing = undefined
  }

  return {
    async read() {
      try {
        const { mtimeMs: confirmedAt } = await stat(file)
        const offer = parseSnapshot(await readFile(file, 'utf8'))
        if (offer !== undefined) return { offer, confirmedAt }
        log.warn({ file }, 'the policy snapshot is corrupted and not used')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        log.warn({ file, reason: String(error) }, 'the policy snapshot cannot be read')
      }
      return undefined
    },
    write(offer) {
      waiting = offer
      confirmedAt = Date.now()
      writing ??= writeWaiting()
    },
    confirm() {
      if (writing !== undefined || Date.now() - confirmedAt < CONFIRM_MS) return
      confirmedAt = Date.now()
      const time = new Date()
      writing = attempt(
        () => utimes(file, time, time),
        'the policy snapshot was not confirmed',
      ).then(writeWaiting)
    },
    async close() {
      await writing
    },
  }
}

async function snapshotOf(offer: Offer | LargeOffer): Promise<string | Uint8Array> {
  return 'aside' in offer ? offer.aside.snapshot : formatSnapshot(offer)
}

async function replaceFile(file: string, text: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  await mkdir(dirname(file), { recursive: true })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    // A rename can reach the disk before the content does.
    await handle.sync()
    await handle.close()
    await rename(temporary, file)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(temporary, { force: true })
    throw error
  }
}
