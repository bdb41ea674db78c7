import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Invalid } from '../errors.ts'
import type { PolicyFile } from '../policy/policy-set.ts'
import { readPolicyFiles } from '../stores/policy-files.ts'

/** A policy directory as it was read; files are named as the person who asked would name them. */
export interface PolicyDirectory {
  readonly name: string
  readonly files: readonly PolicyFile[]
  /** `tests/*_test.yaml`. */
  readonly tests: readonly PolicyFile[]
  /** Files in `tests` that look like tests and are not read. */
  readonly strays: readonly string[]
}

/** Reads the policy files and the tests of a directory. Throws `Invalid` when it cannot. */
export async function readPolicyDirectory(name: string, cwd: string): Promise<PolicyDirectory> {
  const files = await readPolicyFiles(resolve(cwd, name))
  const tests = await testNames(resolve(cwd, name, 'tests'))
  const texts = tests.filter(isTest).map(async (test) => ({
    name: join(name, 'tests', test),
    text: await readFile(resolve(cwd, name, 'tests', test), 'utf8'),
  }))
  return {
    name,
    files: files.map((file) => ({ ...file, name: join(name, basename(file.name)) })),
    tests: await Promise.all(texts),
    strays: tests.filter((test) => !isTest(test)).map((test) => join(name, 'tests', test)),
  }
}

async function testNames(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory)
    return names.filter((name) => /\.ya?ml$/.test(name)).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function isTest(name: string): boolean {
  return name.endsWith('_test.yaml')
}

/** Makes a directory with these files, all at once. Refuses one that already has something in it. */
export async function createPolicyDirectory(
  name: string,
  cwd: string,
  files: readonly PolicyFile[],
): Promise<void> {
  const target = resolve(cwd, name)
  if ((await namesIn(target)).length > 0) {
    throw new Invalid([{ file: name, message: 'is not empty: name a new directory' }])
  }
  const unfinished = `${target}.${randomUUID()}`
  try {
    await mkdir(dirname(target), { recursive: true })
    await mkdir(unfinished)
    for (const file of files) await writeFile(join(unfinished, file.name), file.text)
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/**
 * Replaces the policy files of a directory and leaves the rest of it alone. No file is ever half
 * written; files that are no longer part of the policy go last.
 */
export async function replacePolicyFiles(
  name: string,
  cwd: string,
  files: readonly PolicyFile[],
): Promise<void> {
  const target = resolve(cwd, name)
  for (const file of files) {
    const unfinished = join(target, `.${file.name}.${randomUUID()}`)
    await writeFile(unfinished, file.text)
    await rename(unfinished, join(target, file.name))
  }
  const kept = new Set(files.map((file) => file.name))
  const old = (await readPolicyFiles(target)).map((file) => basename(file.name))
  for (const each of old) if (!kept.has(each) && !each.endsWith('.md')) await rm(join(target, each))
}

/** What a directory holds; nothing when it does not exist. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
