import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'

type Manager = 'apt-get' | 'apk' | 'dnf' | 'brew'

/** The name of a package to each manager that has it. */
export type Packages = Readonly<Record<Manager, string>>

/** How each one brings a package without asking anything. */
const commands: Readonly<Record<Manager, (name: string) => readonly (readonly string[])[]>> = {
  'apt-get': (name) => [
    ['update', '-q'],
    ['-o', 'DPkg::Lock::Timeout=120', 'install', '-qy', '--no-install-recommends', name],
  ],
  apk: (name) => [['add', '--no-cache', name]],
  dnf: (name) => [['install', '-qy', name]],
  brew: (name) => [['install', '--quiet', name]],
}

const longestInstallMs = 300_000

/** Whether the system's package manager has brought it, where that needs nobody's password. */
export function installed(program: string, packages: Packages): boolean {
  const managers = Object.keys(commands) as Manager[]
  const manager = managers.find((name) => versionRuns(name))
  const prefix = manager === undefined ? undefined : rights(manager)
  if (manager === undefined || prefix === undefined) return false
  console.warn(`${program} is missing: installing it with ${manager}`)
  try {
    for (const args of commands[manager](packages[manager])) run([...prefix, manager, ...args])
    return true
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error)
    console.warn(`${manager} could not install ${program}: ${said}`)
    return false
  }
}

/** What to put before the package manager's name; `undefined` when it would ask for a password. */
function rights(manager: Manager): readonly string[] | undefined {
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
    env: {
      ...process.env,
      DEBIAN_FRONTEND: 'noninteractive',
      HOMEBREW_NO_AUTO_UPDATE: '1',
      // Debian would start what it has installed.
      RUNLEVEL: '1',
    },
  })
}
