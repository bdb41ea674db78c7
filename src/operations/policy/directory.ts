import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { type PolicyFile, parsePolicySet } from '../../policy/set/policy-set.ts'
import { readPolicyFiles, readTestFiles } from '../../stores/policies/policy-files.ts'
import type { Surroundings } from '../context.ts'

/** A policy directory as it was read. File names are relative to the user's directory. */
export interface PolicyDirectory {
  readonly name: string
  readonly files: readonly PolicyFile[]
  /** `tests/*_test.yaml`. */
  readonly tests: readonly PolicyFile[]
  /** What looks like a part of the policy and is ignored. */
  readonly strays: readonly Stray[]
}

/** An ignored file or directory, and why. */
interface Stray {
  readonly file: string
  readonly message: string
}

/** Reads the policy files and the tests of a directory. Throws `Invalid` when it cannot. */
export async function readPolicyDirectory(
  name: string,
  { cwd, draft }: Pick<Surroundings, 'cwd' | 'draft'>,
): Promise<PolicyDirectory> {
  if (draft?.name === name) return { ...draft, strays: [] }
  const directory = resolve(cwd, name)
  return {
    name,
    files: await readPolicyFiles(directory, name),
    tests: await readTestFiles(directory, name),
    strays: [
      ...(await straysIn(name, cwd, false)),
      ...(await straysIn(join(name, 'tests'), cwd, true)),
    ],
  }
}

/** The revision that these files are, wherever they are published. Throws `Invalid` when they are no policy. */
export function revisionOf(files: readonly PolicyFile[]): string {
  return parsePolicySet(files).revision
}

/** What an author would miss: misnamed test files, and policy files in sub-directories. */
async function straysIn(name: string, cwd: string, isTests: boolean): Promise<readonly Stray[]> {
  const strays: Stray[] = []
  for (const each of (await namesIn(resolve(cwd, name))).toSorted()) {
    const file = join(name, each)
    if (each.startsWith('.') || (each === 'tests' && !isTests)) continue
    const below = await namesIn(resolve(cwd, file)).catch(() => [])
    if (below.some((found) => partOfPolicy.test(found))) {
      const message = 'ignored: policy files belong directly in the directory or in tests'
      strays.push({ file, message })
    } else if (isTests && /\.ya?ml$/.test(each) && !each.endsWith('_test.yaml')) {
      strays.push({ file, message: 'ignored: test files are named *_test.yaml' })
    }
  }
  return strays
}

const partOfPolicy = /\.(?:csv|conf|ya?ml)$/

/** Creates a directory with these files, all or none. Rejects a directory that is not empty. */
export async function createPolicyDirectory(
  name: string,
  cwd: string,
  files: readonly PolicyFile[],
): Promise<void> {
  const target = resolve(cwd, name)
  if ((await namesIn(target)).length > 0) {
    throw new Invalid([{ file: name, message: 'is not empty: choose a new directory' }])
  }
  const unfinished = `${target}.${randomUUID()}`
  try {
    await mkdir(dirname(target), { recursive: true })
    await mkdir(unfinished)
    for (const file of files) {
      const path = join(unfinished, file.name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, file.text)
    }
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {})
    throw notWritten(name, error)
  }
}

/**
 * Replaces the policy files of a directory and keeps its other files. Each file is replaced atomically;
 * files that are no longer part of the policy are removed last.
 */
export async function replacePolicyFiles(
  name: string,
  cwd: string,
  files: readonly PolicyFile[],
): Promise<void> {
  const target = resolve(cwd, name)
  const kept = new Set(files.map((file) => file.name))
  const old = (await readPolicyFiles(target)).map((file) => basename(file.name))
  try {
    for (const file of files) {
      const unfinished = join(target, `.${file.name}.${randomUUID()}`)
      await writeFile(unfinished, file.text)
      await rename(unfinished, join(target, file.name))
    }
    for (const each of old) {
      if (!kept.has(each) && !each.endsWith('.md')) await rm(join(target, each))
    }
  } catch (error) {
    throw notWritten(name, error)
  }
}

function notWritten(name: string, error: unknown): Fault {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  return new Fault('policies', { reason: `${name} cannot be written (${code})` })
}

/** The names in a directory; none when it does not exist. Throws `Invalid` when it is a file. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new Invalid([{ file: directory, message: `cannot be read as a directory (${code})` }])
  }
}
