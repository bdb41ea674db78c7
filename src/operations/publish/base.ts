import { hash, randomUUID } from 'node:crypto'
import { mkdir, realpath, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { codeOf, isWithin, readContained } from '../../stores/files/contained-file.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { RedisSettings } from '../../stores/redis/redis.ts'
import type { OverOption } from './over.ts'

/** Our own directory within a policy directory; not a part of the policy. */
const ownDirectory = '.postern'

/** The file that records from which published revisions the files of a directory come. */
function baseFile(directory: string): string {
  return join(directory, ownDirectory, 'base')
}

/** A copy of the files, and the Redis that it is published to or pulled from. */
export interface BasePlace {
  readonly directory: string
  readonly cwd: string
  readonly redis: RedisSettings
}

/** What the files come from, and what was proposed with them since. */
interface Base {
  readonly revision: string
  readonly proposed?: string
}

/** The revision of that Redis that the files come from, if the directory records it. */
export async function readBase(place: BasePlace): Promise<string | undefined> {
  return (await readBases(place)).get(targetOf(place.redis))?.revision
}

/** Which revision the files of a directory may replace; without a place, it has no record. */
export async function readOver(
  option: string | undefined,
  name: string,
  place: BasePlace | undefined,
): Promise<OverOption> {
  const known = place && (await readBases(place)).get(targetOf(place.redis))
  return { option, directory: { name, base: known?.revision, proposed: known?.proposed } }
}

/** Records what was proposed in a directory with a base: once it is live, the files come from it. */
export async function writeProposed(place: BasePlace, proposed: string): Promise<void> {
  const revision = await readBase(place)
  if (revision !== undefined) await write(place, { revision, proposed })
}

/**
 * Records which revision the files of a directory come from. The record is about this copy, so git
 * ignores it. Returns whether it was written: a mounted directory is often read-only.
 */
export async function writeBase(place: BasePlace, revision: string): Promise<boolean> {
  return write(place, { revision })
}

async function write(place: BasePlace, base: Base): Promise<boolean> {
  const { directory, cwd, redis } = place
  const own = resolve(cwd, directory, ownDirectory)
  const unfinished = join(own, `.base.${randomUUID()}`)
  try {
    const bases = new Map(await readBases(place)).set(targetOf(redis), base)
    const lines = [...bases].map(([target, { revision, proposed }]) => {
      return `${[target, revision, ...(proposed === undefined ? [] : [proposed])].join(' ')}\n`
    })
    await mkdir(own, { recursive: true })
    // A link that came with the directory must not choose where this machine writes.
    if (!isWithin(await realpath(own), await realpath(resolve(cwd, directory)))) return false
    const exclusive = { flag: 'wx' } as const
    await writeFile(join(own, '.gitignore'), '*\n', exclusive).catch(() => {})
    await writeFile(unfinished, lines.join(''), exclusive)
    await rename(unfinished, resolve(cwd, baseFile(directory)))
    return true
  } catch {
    return false
  }
}

/** What an unwritten record means for the user. */
export function baseNotWritten(directory: string): string {
  return `note: ${baseFile(directory)} cannot be written: the next push needs --over`
}

/** One line for each Redis: files that come from production may be pushed to staging first. */
async function readBases({ directory, cwd }: BasePlace): Promise<ReadonlyMap<string, Base>> {
  const file = baseFile(directory)
  const text = await readRecord(resolve(cwd, directory), file)
  const bases = new Map<string, Base>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [target = '', revision, proposed] = line.split(' ')
    if (!isRevision(revision)) {
      const message = 'does not contain a revision: delete the file and push with --over REVISION'
      throw new Invalid([{ file, message }])
    }
    bases.set(target, { revision, ...(isRevision(proposed) && { proposed }) })
  }
  return bases
}

/** A line of 48 characters for each Redis: enough for more of them than anyone pushes to. */
const maxBytes = 64 * 1024

/** The record of a directory that others may have prepared: neither a pipe nor a link to elsewhere. */
async function readRecord(directory: string, shown: string): Promise<string> {
  const path = join(directory, ownDirectory, 'base')
  let root: string
  try {
    await realpath(path)
    root = await realpath(directory)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return ''
    throw new Invalid([{ file: shown, message: `cannot be read (${code})` }])
  }
  return (await readContained(path, { shown, root, maxBytes, limit: '64 KiB' })).toString()
}

/** Identifies a Redis and prefix. A hash, so that the file holds neither an address nor a password. */
function targetOf({ url, prefix }: RedisSettings): string {
  // The query has the password for the sentinels.
  const [address] = url.replace(/^[\w+]+:\/\/(?:[^@/]*@)?/, '').split('?')
  return hash('sha256', `${address} ${prefix}`).slice(0, 12)
}
