import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { findProgram, isProgram } from './programs.ts'

/** 6.2 is the first version with XAUTOCLAIM and GETDEL. */
const wanted = {
  name: 'redis-server',
  says: /(?:Redis|Valkey) server v=(\d+\.\d+)/,
  oldest: 6.2,
}

/** How each package manager brings redis-server, without asking anything. */
const managers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'apt-get': [
    ['update', '-q'],
    ['-o', 'DPkg::Lock::Timeout=120', 'install', '-qy', '--no-install-recommends', 'redis-server'],
  ],
  apk: [['add', '--no-cache', 'redis']],
  dnf: [['install', '-qy', 'redis']],
  brew: [['install', '--quiet', 'redis']],
}

const longestInstallMs = 300_000

/**
 * A redis-server: the one that POSTERN_TEST_REDIS names, else one of this machine, else one that
 * the system's package manager brings where that needs nobody's password. Throws one line on what
 * to install.
 */
export function findRedis(): string {
  const named = process.env['POSTERN_TEST_REDIS']
  if (named !== undefined) {
    if (isProgram(named, wanted)) return named
    throw new Error(
      `POSTERN_TEST_REDIS names ${named}, which is no redis-server from ${wanted.oldest} on`,
    )
  }
  const program = findProgram(wanted) ?? (install() ? findProgram(wanted) : undefined)
  if (program !== undefined) return program
  throw new Error(
    `the tests need redis-server ${wanted.oldest} or later: install it (Debian: apt-get install redis-server; macOS: brew install redis) or name the program in POSTERN_TEST_REDIS`,
  )
}

function install(): boolean {
  const manager = Object.keys(managers).find((name) => versionRuns(name))
  const prefix = manager === undefined ? undefined : rights(manager)
  if (manager === undefined || prefix === undefined) return false
  console.warn(`redis-server is missing: installing it with ${manager}`)
  try {
    for (const args of managers[manager] ?? []) run([...prefix, manager, ...args])
    return true
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error)
    console.warn(`${manager} could not install redis-server: ${said}`)
    return false
  }
}

/** What to put before the package manager's name; `undefined` when it would ask for a password. */
function rights(manager: string): readonly string[] | undefined {
  // Homebrew installs for its user, and refuses root.
  if (manager === 'brew') return []
  if (userInfo().uid === 0) return []
  try {
    run(['sudo', '-n', 'true'])
    return ['sudo', '-n']
  } catch {
    return undefined
  }
}

function versionRuns(name: string): boolean {
  try {
    run([name, '--version'])
    return true
  } catch {
    return false
  }
}

function run([program = '', ...args]: readonly string[]): void {
  execFileSync(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: longestInstallMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' },
  })
}
