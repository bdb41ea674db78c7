import { hash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasTexts, isRevision, readJson } from './policy-document.ts'
import type { Keep, Offer, PolicyLog } from './policy-source.ts'

/** How often the file is told that the source still says the same. */
const CONFIRM_MS = 15_000

/**
 * Keeps the last good policy in a file: replaced whole, readable by nobody else, with its checksum
 * in the first line. Its time is that of the last confirmation. A file that does not fit its
 * checksum is not used. Failing to write costs a log line and nothing else.
 */
export function createPolicySnapshot(file: string, log: PolicyLog): Keep {
  let waiting: Offer | undefined
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
      const text = formatSnapshot(waiting)
      waiting = undefined
      await attempt(() => replaceFile(file, text), 'the policy snapshot was not written')
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

function formatSnapshot({ files, checksum, revision, sequence }: Offer): string {
  const body = JSON.stringify({ revision, sequence, checksum, files })
  return `${hash('sha256', body)}\n${body}`
}

function parseSnapshot(text: string): Offer | undefined {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || hash('sha256', body) !== text.slice(0, end)) return undefined
  const value = readJson(body)
  return isOffer(value) ? value : undefined
}

function isOffer(value: unknown): value is Offer {
  if (!hasTexts(value, ['revision', 'checksum']) || !isRevision(value['revision'])) return false
  const { files, sequence } = value
  if (!Number.isSafeInteger(sequence) || !Array.isArray(files)) return false
  return files.every((file) => hasTexts(file, ['name', 'text']))
}

async function replaceFile(file: string, text: string): Promise<void> {
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
