import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from '../../test/support/services/packages.ts'
import { casbinEnv, casbinWorkloads } from './casbin-files.ts'
import type { Peer } from './peer.ts'
import { fileOfPeers } from './places.ts'

const source = fileOfPeers('gin-casbin')

/** Where the program is, once it is built from these sources. */
function program(): string {
  const hash = createHash('sha256')
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(source, name)))
  return join(cacheDirectory(), `gin-casbin-${hash.digest('hex').slice(0, 12)}`)
}

/** Builds it where Go is installed, which takes a minute of CPU. Says why it cannot be built. */
export function buildGoPeer(): void {
  if (existsSync(program())) return
  mkdirSync(cacheDirectory(), { recursive: true })
  try {
    execFileSync('go', ['build', '-o', program(), '.'], { cwd: source, stdio: 'pipe' })
  } catch (error) {
    console.warn(`gin-casbin was not built: ${error instanceof Error ? error.message : error}`)
  }
}

function versions(): string {
  const { stdout } = spawnSync(program(), ['version'], { encoding: 'utf8' })
  return stdout.trim()
}

/** The straightforward stack in Go that does the same job, as go-admin and its like have it. */
export const goPeers: readonly Peer[] = [100, 1000].map((rules) => ({
  name: `gin-casbin-${rules}`,
  title: 'gin + golang-jwt + casbin',
  kind: 'checked',
  rules,
  only: casbinWorkloads(rules),
  version: versions,
  absent: () =>
    existsSync(program()) ? undefined : 'gin-casbin is not built; --install builds it with Go',
  prepare: async (setting) => ({
    program: program(),
    args: [],
    // One core, as every other peer has one process or thread.
    env: { ...(await casbinEnv(rules, setting)), GOMAXPROCS: '1' },
  }),
}))
