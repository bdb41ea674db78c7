import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/** Packages that only some tests need, kept out of our own lockfile by one of theirs. */
export interface TestPackages {
  /** The directory, beside this file, of their manifest and lockfile. */
  readonly name: string
  /** What to tell while they are fetched. */
  readonly why: string
  /** What is missing after npm says that all is well; npm says so of an optional package too. */
  readonly missing: (home: string) => string | undefined
  /** What is left to do once they are there. */
  readonly finish?: (home: string) => void
}

/**
 * The directory with their `node_modules`, fetched once into a cache of the user's. `undefined`, with
 * a line on why, when npm cannot fetch them.
 */
export function fetchPackages({ name, why, missing, finish }: TestPackages): string | undefined {
  const source = join(import.meta.dirname, name)
  const lock = createHash('sha256').update(readFileSync(join(source, 'package-lock.json')))
  const home = join(cacheDirectory(), `${name}-${lock.digest('hex').slice(0, 12)}`)
  if (existsSync(home)) return home

  console.warn(why)
  try {
    fetchInto(home, { name, why, missing, ...(finish && { finish }) })
  } catch (error) {
    // Another run may have been faster.
    if (existsSync(home)) return home
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error)
    console.warn(`npm could not fetch them: ${said}`)
    return undefined
  }
  return home
}

/** Beside, then renamed: another run may do the same at the same time, or this one may be stopped. */
function fetchInto(home: string, { name, missing, finish }: TestPackages): void {
  mkdirSync(dirname(home), { recursive: true })
  const beside = mkdtempSync(`${home}-`)
  try {
    cpSync(join(import.meta.dirname, name), beside, { recursive: true })
    // The lockfile beside the manifest holds the packages to one content.
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], beside)
    const lacking = missing(beside)
    if (lacking !== undefined) throw new Error(`the registry does not give ${lacking}`)
    finish?.(beside)
    run('chmod', ['755', beside], beside)
    renameSync(beside, home)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** PostgreSQL does not run as root: where we are root, another user must be able to read it. */
export function cacheDirectory(): string {
  const named = process.env['POSTERN_TEST_CACHE']
  if (named !== undefined) return named
  if (userInfo().uid === 0) return '/var/cache/postern-test'
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'postern-test')
}

/** Runs a program to its end. Throws, with what it said, when it fails or takes five minutes. */
export function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 300_000,
  })
}
