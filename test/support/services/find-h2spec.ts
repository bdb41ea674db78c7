import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './packages.ts'
import { findProgram, isProgram } from './programs.ts'

const wanted = { name: 'h2spec', says: /Version: (\d+)\./, oldest: 2 }
const module = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible'

/**
 * An h2spec: the one that POSTERN_TEST_H2SPEC names, else one of this machine, else the one that Go
 * builds into the cache. Throws one line on what to install.
 */
export function findH2spec(): string {
  const named = process.env['POSTERN_TEST_H2SPEC']
  if (named !== undefined && !isProgram(named, wanted)) {
    throw new Error(`POSTERN_TEST_H2SPEC names ${named}, which is not h2spec 2 or later`)
  }
  return named ?? findProgram(wanted) ?? built()
}

function built(): string {
  const home = join(cacheDirectory(), 'h2spec-2.2.1')
  const program = join(home, 'h2spec')
  if (existsSync(program)) return program
  const env = { ...process.env, GOBIN: home, GOFLAGS: '-buildvcs=false' }
  const { status } = spawnSync('go', ['install', module], { env, stdio: 'ignore' })
  if (status === 0) return program
  throw new Error(
    'they need h2spec 2 or later: install it or Go with access to its modules, or name the program in POSTERN_TEST_H2SPEC',
  )
}
