import { lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault } from '../../kernel/errors.ts'
import { decline } from '../declined.ts'
import type { GeneratedFile } from './templates/templates.ts'

export type Project = Awaited<ReturnType<typeof openProject>>

/**
 * Opens a directory that is filled out of sight, and gets everything or nothing. Creates it if it is
 * missing. Declines when it has one of the `names`: nothing is overwritten.
 */
export async function openProject(directory: string, shown: string, names: readonly string[]) {
  await refuseExisting(directory, shown, names)
  const made = await orFault(shown, () => mkdir(directory, { recursive: true }))
  const draft = await orFault(shown, () => mkdtemp(join(directory, '.postern-init-')))

  return {
    /** Where the files are until `publish`. */
    draft,
    async write({ name, text, isSecret }: GeneratedFile) {
      const path = join(draft, name)
      await orFault(shown, async () => {
        await mkdir(dirname(path), { recursive: true, ...(isSecret && { mode: 0o700 }) })
        await writeFile(path, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o666 })
      })
    },
    /** Moves everything into place. */
    async publish() {
      // Someone else may have been as quick.
      await refuseExisting(directory, shown, names)
      await orFault(shown, async () => {
        for (const name of names) {
          if (await exists(join(draft, name)))
            await rename(join(draft, name), join(directory, name))
        }
        await rm(draft, { recursive: true, force: true })
      })
    },
    /** Removes what was not published. */
    async discard() {
      await rm(made ?? draft, { recursive: true, force: true })
    },
  }
}

async function refuseExisting(
  directory: string,
  shown: string,
  names: readonly string[],
): Promise<void> {
  const found: string[] = []
  for (const name of names) if (await exists(join(directory, name))) found.push(name)
  if (found.length === 0) return
  const verb = found.length === 1 ? 'exists' : 'exist'
  decline(
    `${found.join(', ')} already ${verb} in ${shown}: init overwrites nothing; name another directory`,
  )
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

/** Adds what is missing to the list of what Git ignores. Returns whether there was one before. */
export async function ignoreInGit(
  directory: string,
  lines: readonly string[],
): Promise<'created' | 'extended' | 'unchanged'> {
  const file = join(directory, '.gitignore')
  return orFault(file, async () => {
    const before = await readFile(file, 'utf8').catch(() => undefined)
    const known = new Set(before?.split(/\r?\n/).map((line) => line.trim()))
    const missing = lines.filter((line) => !known.has(line) && !known.has(`/${line}`))
    if (missing.length === 0) return 'unchanged'
    const start = before === undefined || before === '' || before.endsWith('\n') ? '' : '\n'
    const added = `${start}# Secrets, keys and the database of Postern.\n${missing.join('\n')}\n`
    await writeFile(file, `${before ?? ''}${added}`)
    return before === undefined ? 'created' : 'extended'
  })
}

async function orFault<Result>(shown: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new Fault('configuration', { reason: `${shown} cannot be written (${code})` })
  }
}
