import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Invalid } from '../errors.ts'
import { isRevision } from '../stores/policy-document.ts'

/** Policy directories have a directory of ours in them, which is no part of the policy. */
const ownDirectory = '.postern'

/** Where a policy directory says from which published revision its files were made. */
export function baseFile(directory: string): string {
  return join(directory, ownDirectory, 'base')
}

/** The published revision that the files of a directory were made from, if it says so. */
export async function readBase(directory: string, cwd: string): Promise<string | undefined> {
  const file = baseFile(directory)
  const text = await readFile(resolve(cwd, file), 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new Invalid([{ file, message: `cannot be read (${code})` }])
  })
  const revision = text?.trim()
  if (revision === undefined || isRevision(revision)) return revision
  const message = 'is not a revision: delete the file, and push with --over REVISION'
  throw new Invalid([{ file, message }])
}

/**
 * Notes what the files of a directory were made from. It is a note of this copy of them, so git is
 * told to ignore it. Says whether it could be written: a mounted directory is often read-only.
 */
export async function writeBase(
  directory: string,
  cwd: string,
  revision: string,
): Promise<boolean> {
  const own = resolve(cwd, directory, ownDirectory)
  const unfinished = join(own, `.base.${randomUUID()}`)
  try {
    await mkdir(own, { recursive: true })
    await writeFile(join(own, '.gitignore'), '*\n')
    await writeFile(unfinished, `${revision}\n`)
    await rename(unfinished, resolve(cwd, baseFile(directory)))
    return true
  } catch {
    return false
  }
}
