import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { consoleFiles } from './console-policy.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { startPostgres } from './postgres-server.ts'
import { startRecordingUpstream } from './recording-upstream.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { type Ran, runCommand } from './run-command.ts'
import { testSecret } from './tokens.ts'
import { until } from './until.ts'

/** Two gateways on one Redis and one PostgreSQL, the first one with a console that changes things. */
export interface ConsoleFleet {
  /** Of the console. Ends with a slash. */
  readonly address: string
  /** By user name. */
  readonly passwords: Readonly<Record<string, string>>
  readonly gateways: readonly [GatewayProcess, GatewayProcess]
  readonly redis: RedisServer
  /** The policy files that were published first, as a draft in the console has them. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  /** Runs a command with the configuration of the fleet. */
  postern(...args: readonly string[]): Promise<Ran>
  /** Makes the console believe that every password was entered long ago. */
  moveClock(): void
  stop(): Promise<void>
}

interface FleetOptions {
  /** Role by user name. */
  readonly people: Readonly<Record<string, string>>
  readonly routes?: readonly object[]
  /** Merged over the configuration, section by section. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Beside the policy, relative to the directory. */
  readonly files?: Readonly<Record<string, string>>
  /** Publishes the first policy; absent: `policy push`. */
  readonly publish?: (postern: ConsoleFleet['postern']) => Promise<unknown>
}

const policyFiles = Object.entries(consoleFiles).filter(([name]) => name.startsWith('policies/'))

/** Starts everything, publishes the first policy and adds the people. */
export async function startConsoleFleet(options: FleetOptions): Promise<ConsoleFleet> {
  const [redis, postgres, upstream] = await Promise.all([
    startRedis(),
    startPostgres(),
    startRecordingUpstream(),
  ])
  const cwd = await mkdtemp(join(tmpdir(), 'postern-fleet-'))
  const settings: Record<string, unknown> = {
    application: { mode: 'dev', host: '127.0.0.1', port: 0 },
    ops: { host: '127.0.0.1', port: 0 },
    jwt: { secret: testSecret },
    logger: { enableddb: true },
    redis: { url: redis.url, prefix: '{walk}:' },
    database: { url: postgres.url, statementTimeoutMs: 60_000 },
    policy: { source: 'redis', pollSeconds: 1, directory: join(cwd, 'policies') },
    upstreams: { app: { targets: [upstream.origin] } },
    routes: options.routes ?? [{ path: '/orders', upstream: 'app' }],
    console: { roles: { author: ['author'], publisher: ['admin'] }, write: true, port: 0 },
  }
  for (const [section, values] of Object.entries(options.config ?? {})) {
    settings[section] = { ...(settings[section] as object), ...values }
  }
  const configFile = join(cwd, 'postern.yaml')
  for (const [name, text] of [
    ...policyFiles,
    ...Object.entries(options.files ?? {}),
    ['postern.yaml', stringify(settings)] as const,
  ]) {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  const postern = (...args: readonly string[]) =>
    runCommand([...args, '--config', configFile], { cwd })
  const passwords = await addPeople(options.people, postern)
  const publish = options.publish ?? ((run) => expectDone(run, ...firstPush))
  await publish(postern)

  const withConsole = {
    ...settings,
    console: { ...(settings['console'] as object), enabled: true },
  }
  const gateways = await Promise.all([
    startGatewayProcess(join(cwd, 'first.yaml'), withConsole, { preload: 'moved-clock.ts' }),
    startGatewayProcess(join(cwd, 'second.yaml'), settings),
  ])
  const listening = () => gateways[0].log.find(({ msg }) => msg === 'console listening')
  await until(() => listening() !== undefined)
  return {
    address: String(listening()?.['address']),
    passwords,
    gateways,
    redis,
    files: policyFiles.map(([name, text]) => ({ name: name.slice('policies/'.length), text })),
    postern,
    moveClock: () => void process.kill(Number(listening()?.['pid']), 'SIGUSR2'),
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()))
      await Promise.all([redis.stop(), postgres.stop(), upstream.close()])
      await rm(cwd, { recursive: true, force: true })
    },
  }
}

const firstPush = ['policy', 'push', '-m', 'the first policy', '--yes', '--no-wait']

export async function expectDone(
  postern: ConsoleFleet['postern'],
  ...args: readonly string[]
): Promise<string> {
  const { code, out, err } = await postern(...args)
  expect([args.join(' '), code, code === 0 ? '' : err]).toEqual([args.join(' '), 0, ''])
  return out
}

async function addPeople(people: FleetOptions['people'], postern: ConsoleFleet['postern']) {
  await expectDone(postern, 'db', 'migrate')
  const roles = new Set(Object.values(people).filter((role) => role !== 'admin'))
  for (const role of roles) {
    await expectDone(postern, 'role', 'add', role, '--name', role, '--data-scope', '1')
  }
  const passwords: Record<string, string> = {}
  for (const [name, role] of Object.entries(people)) {
    passwords[name] = (await expectDone(postern, 'user', 'add', name, '--role', role)).trim()
  }
  return passwords
}

/** Logs in at a gateway. Returns the code and, if it is 200, a token. */
export async function logInAt(
  { publicPort }: Pick<GatewayProcess, 'publicPort'>,
  username: string,
  password: string,
): Promise<{ readonly code: number; readonly token?: string }> {
  const answer = await fetch(`http://127.0.0.1:${publicPort}/api/v1/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password, uuid: '-', code: '-' }),
  })
  return (await answer.json()) as { readonly code: number; readonly token?: string }
}

/** Calls the service behind a gateway. Returns 200, or the code of the refusal. */
export async function callThrough(
  { publicPort }: Pick<GatewayProcess, 'publicPort'>,
  method: string,
  path: string,
  token = '',
): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${publicPort}${path}`, { method, headers })
  const { ok, code } = (await answer.json()) as { readonly ok?: boolean; readonly code?: number }
  return ok === true ? 200 : (code ?? answer.status)
}

/** Moves the focus with Tab until the element with this name has it. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const expression = `(() => {
    const { activeElement: at } = document
    return (at?.getAttribute('aria-label') ?? (at?.labels?.[0] ?? at)?.textContent ?? '').trim()
  })()`
  for (let left = 100; left > 0; left--) {
    if ((await page.evaluate(expression)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}
