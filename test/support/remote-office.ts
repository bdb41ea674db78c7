import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { consoleFiles } from './console-policy.ts'
import { startPostgres } from './postgres-server.ts'
import { testRedis } from './published-policies.ts'
import { type RemotePostern, remotePostern } from './remote-postern.ts'
import { type Ran, runCommand } from './run-command.ts'
import { startConsole, type TestConsole } from './start-console.ts'

export interface Office {
  readonly console: TestConsole
  readonly remote: RemotePostern
  /** Runs a command beside the console, in the directory that both machines have a copy of. */
  local(typed: string): Promise<Ran>
  /** Runs it over the network, from a directory with the same files. */
  far(typed: string, options?: Parameters<RemotePostern['run']>[1]): Promise<Ran>
  readonly cwd: string
}

/** A console with a published policy, and a machine that knows only its address. */
export async function openOffice(
  options: {
    readonly isPostgres?: boolean
    readonly now?: () => number
    /** `console.services`. */
    readonly services?: object
  } = {},
): Promise<Office> {
  const redis = await testRedis()
  const { isPostgres = false, now, services = {} } = options
  const postgres = isPostgres ? await startPostgres() : undefined
  if (postgres !== undefined) onTestFinished(postgres.stop)
  const console = await startConsole({
    ...{ isWhole: true, ownDatabase: true, ...(now !== undefined && { now }) },
    config: {
      redis: { url: redis.url },
      policy: { source: 'redis' },
      tokens: { service: { enabled: true } },
      console: {
        ...{ port: 0, write: true, services },
        roles: { reader: ['editor'], publisher: ['admin'] },
      },
      ...(postgres !== undefined && { database: { url: postgres.url } }),
    },
  })
  const cwd = dirname(console.configFile)
  await writePolicy(cwd, consoleFiles['policies/policy.csv'])
  const env = { POSTERN_CONFIG: console.configFile }
  const local = (typed: string) => runCommand(typed.split(' '), { cwd, env })
  const remote = await remotePostern(`http://127.0.0.1:${console.port}`)
  const office = {
    ...{ console, remote, local, cwd },
    far: (typed: string, given = {}) => remote.run(typed.split(' '), { cwd, ...given }),
  }
  await done(local('policy push policies -m first --yes --no-wait'))
  if (isPostgres) {
    await done(local('role add clerk --name Clerk --data-scope 1'))
    const { out } = await done(local('user add petra --role admin'))
    await done(remote.logIn('petra', out.trim()))
  } else await done(remote.logIn('admin', console.passwords['admin'] ?? ''))
  return office
}

export async function writePolicy(cwd: string, rules: string, name = 'policies'): Promise<void> {
  for (const [file, text] of Object.entries(consoleFiles)) {
    if (!file.startsWith('policies/')) continue
    const path = join(cwd, file.replace('policies', name))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, file.endsWith('policy.csv') ? rules : text)
  }
}

export async function done(running: Promise<Ran>): Promise<Ran> {
  const ran = await running
  expect([ran.code, ran.code === 0 ? '' : ran.err]).toEqual([0, ''])
  return ran
}
