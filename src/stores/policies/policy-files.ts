import { isUtf8 } from 'node:buffer'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { codeOf, isWithin, leaves, readContained } from '../files/contained-file.ts'
import type { PolicyBytes } from './policy-task.ts'

export type { PolicyFile } from '../../policy/set/policy-set.ts'

/** How large the files of a policy may be. */
export const limits = {
  /**
   * All `*.csv` files of a directory together. A published policy is one value in Redis and one string
   * in V8, which both end at 512 MiB; half of that leaves room for escapes. A million rules need 60 MB.
   */
  tables: { maxBytes: 256 * 2 ** 20, limit: '256 MiB for all *.csv files together' },
  /** Any other file: the YAML parser needs about a hundred times the memory of the text. */
  other: { maxBytes: 16 * 2 ** 20, limit: '16 MiB' },
} as const

/**
 * Reads every file of a policy directory in name order, with any name: the parser refuses a mistyped
 * one. Left out are directories such as `tests`, names that begin with a dot, and README files.
 * `shown` names the directory in messages and results. Throws `Invalid` when the directory or one of
 * the files cannot be read, is too large, or lies outside the directory.
 */
export async function readPolicyFiles(directory: string, shown = directory): Promise<PolicyFile[]> {
  return (await readPolicyBytes(directory, shown)).map(fileOf)
}

/** What `readPolicyFiles` reads, not made into text yet; that it can be is certain. */
export async function readPolicyBytes(
  directory: string,
  shown = directory,
): Promise<PolicyBytes[]> {
  const root = await rootOf(directory, shown)
  const names = (await namesIn(directory, shown)).filter(mayCount).sort()
  const files: PolicyBytes[] = []
  let tables: Limit = limits.tables
  for (const name of names) {
    const isTable = name.endsWith('.csv')
    const file = { path: join(directory, name), shown: join(shown, name), root }
    if (!isPart.test(name) && (await isDirectory(file.path))) continue
    const bytes = await readUtf8(file, isTable ? tables : limits.other)
    if (isTable) tables = { ...tables, maxBytes: tables.maxBytes - bytes.length }
    files.push({ name: file.shown, bytes })
  }
  return files
}

/** Reads `tests/*_test.yaml` of a policy directory with the same care. */
export async function readTestFiles(directory: string, shown = directory): Promise<PolicyFile[]> {
  const root = await rootOf(directory, shown)
  const tests = join(directory, 'tests')
  // A dangling link is not the same as no tests.
  if (!(await exists(tests))) return []
  const shownTests = join(shown, 'tests')
  if (!isWithin(await rootOf(tests, shownTests, ''), root)) throw unreadable(shownTests, leaves)
  const names = (await namesIn(tests, shownTests)).filter((name) => name.endsWith('_test.yaml'))
  const files: PolicyFile[] = []
  for (const name of names.sort()) {
    const file = { path: join(tests, name), shown: join(shownTests, name), root }
    files.push({ name: file.shown, text: (await readUtf8(file, limits.other)).toString() })
  }
  return files
}

/** The file that these bytes are. */
export function fileOf({ name, bytes }: PolicyBytes): PolicyFile {
  return { name, text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() }
}

/** A directory with such a name was meant to be a file. */
export const isPart = /\.(?:csv|conf|ya?ml)$/

interface Limit {
  readonly maxBytes: number
  readonly limit: string
}

interface NamedFile {
  readonly path: string
  readonly shown: string
  readonly root: string
}

async function readUtf8(file: NamedFile, max: Limit): Promise<Buffer> {
  const { path, shown, root } = file
  const bytes = await readContained(path, { shown, root, ...max })
  if (isUtf8(bytes)) return bytes
  // Replaced by U+FFFD, two roles could become one.
  throw unreadable(shown, 'is not UTF-8 text: save it as UTF-8')
}

/** The directory itself may be a link: its operator chose it. */
async function rootOf(directory: string, shown: string, hint = existing): Promise<string> {
  return realpath(directory).catch((error) => {
    throw unreadable(shown, `cannot be read (${codeOf(error)})${hint}`)
  })
}

async function namesIn(directory: string, shown: string): Promise<readonly string[]> {
  return readdir(directory).catch((error) => {
    throw unreadable(shown, `cannot be read as a directory (${codeOf(error)})`)
  })
}

const existing = '; give an existing policy directory (policy.directory)'

/** Whether a file of a policy directory counts, by its name. */
export function mayCount(name: string): boolean {
  const isNote = name.startsWith('README') && !isPart.test(name)
  return !name.startsWith('.') && !isNote
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function unreadable(file: string, message: string): Invalid {
  return new Invalid([{ file, message }])
}
