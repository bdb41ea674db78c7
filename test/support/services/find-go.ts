import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

/** Programs of Go modules are built once, here. */
const directory = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'postern-go')

/**
 * The program of a Go package at a version, built if it is not here yet. Returns `undefined`, and says
 * why, where there is no Go or no module proxy.
 */
export function findGoProgram(
  path: string,
  version: string,
  name = basename(path),
): string | undefined {
  const own = join(directory, `${name}-${version}`)
  const program = join(own, basename(path))
  if (existsSync(program)) return program
  mkdirSync(own, { recursive: true })
  const { error, status, stderr } = spawnSync('go', ['install', `${path}@${version}`], {
    env: { ...process.env, GOBIN: own, GOFLAGS: '-mod=mod' },
    encoding: 'utf8',
  })
  if (error === undefined && status === 0 && existsSync(program)) return program
  const why = error === undefined ? stderr.trim().split('\n').at(-1) : 'there is no go command'
  console.warn(`left out: what needs ${path}: ${why}`)
  return undefined
}
