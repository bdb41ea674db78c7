import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { postLogin } from './log-in.ts'
import { prefix } from './published-policies.ts'
import type { RedisServer } from './redis-server.ts'
import { runCommand } from './run-command.ts'
import { serverUrl } from './seeded-database.ts'
import { startPostern, type TestPostern } from './start-postern.ts'
import { testSecret } from './tokens.ts'
import { until } from './until.ts'

export interface ReplicaOptions {
  readonly redis?: Pick<RedisServer, 'url'>
  /** A PostgreSQL that replicas share; without it, an embedded database. */
  readonly databaseUrl?: string
  /** An embedded database for these gateways alone, which ends when they do. */
  readonly ownDatabase?: boolean
  readonly migrate?: 'auto' | 'never'
  readonly statementTimeoutMs?: number
  readonly revocation?: Readonly<Record<string, unknown>>
  /** Of the commands; gateways always run in dev. */
  readonly mode?: string
  readonly jwt?: Readonly<Record<string, unknown>>
  readonly tokens?: Readonly<Record<string, unknown>>
  readonly issuers?: readonly Readonly<Record<string, unknown>>[]
}

/** Gateways that share their accounts, and commands on what they share. */
export interface Replicas {
  /** Starts one more, in dev mode: any captcha will do. */
  start(): Promise<TestPostern>
  /** The configuration of the commands. */
  readonly file: string
  /** Runs `postern …` with the configuration of these gateways. */
  postern(line: string, stdin?: string): Promise<Ran>
  /** Adds an account that only this test uses. */
  addUser(role?: string): Promise<User>
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface User {
  readonly name: string
  readonly id: string
  readonly password: string
}

/** Everything ends with the test. */
export async function startReplicas(options: ReplicaOptions): Promise<Replicas> {
  const { redis, migrate, revocation } = options
  const databaseUrl =
    options.databaseUrl ?? (await serverUrl(options.ownDatabase ? 'own' : 'shared'))
  const ownDatabase = options.ownDatabase === true && databaseUrl === undefined
  const { statementTimeoutMs = 10_000 } = options
  const directory = await mkdtemp(join(tmpdir(), 'postern-replicas-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'postern.yaml')
  const dataDirectory = ownDatabase || databaseUrl ? join(directory, 'data') : inject('sharedData')
  if (ownDatabase) await cp(inject('databaseTemplate'), dataDirectory, { recursive: true })

  const shared = {
    application: { mode: 'dev', dataDirectory },
    ...(redis && { redis: { url: redis.url, prefix } }),
    ...(databaseUrl && {
      database: { url: databaseUrl, statementTimeoutMs, ...(migrate && { migrate }) },
    }),
    ...(revocation && { revocation }),
    ...(options.tokens && { tokens: options.tokens }),
  }
  const { issuers = [] } = options
  const ofCommands = {
    ...shared,
    // A gateway that gives up early is what a test is about; a command that does fails the test.
    ...(shared.database && { database: { ...shared.database, statementTimeoutMs: 60_000 } }),
    issuers,
    application: { ...shared.application, mode: options.mode ?? 'dev' },
    jwt: { secret: testSecret, ...options.jwt },
  }
  await writeFile(file, stringify(ofCommands))

  async function postern(line: string, stdin = ''): Promise<Ran> {
    return runCommand([...line.split(' '), '--config', file], { cwd: directory, stdin })
  }

  async function addUser(role = 'editor'): Promise<User> {
    const name = `user-${randomUUID()}`
    const { code, out, err } = await postern(`user add ${name} --role ${role}`)
    if (code !== 0) throw new Error(`no account was added: ${err}`)
    const list = JSON.parse((await postern('user list --output json')).out) as {
      readonly username: string
      readonly userId: string
    }[]
    const id = list.find(({ username }) => username === name)?.userId ?? ''
    return { name, id, password: out.trim() }
  }

  return { start: () => startPostern({ config: shared, issuers }), file, postern, addUser }
}

/** What a gateway makes of a token: it lets the call through, refuses it, or cannot tell. */
export async function verdictOn(
  gateway: Pick<TestPostern, 'call'>,
  token: string,
): Promise<'live' | 'over' | 'fault'> {
  const answer = await gateway.call('GET /api/v1/public/a', { token })
  if (answer.status === 503) return 'fault'
  const { ok, code } = answer.json() as { ok?: boolean; code?: number }
  if (ok === true) return 'live'
  if (code === 401) return 'over'
  throw new Error(`unexpected answer ${answer.status}: ${answer.body}`)
}

/** Waits until every one of these gateways refuses the token. */
export async function overEverywhere(gateways: readonly TestPostern[], token: string) {
  await until(async () => {
    const verdicts = await Promise.all(gateways.map((gateway) => verdictOn(gateway, token)))
    return verdicts.every((verdict) => verdict === 'over')
  })
}

/** Logs in; the token is asserted to be taken by every one of these gateways. */
export async function liveToken(gateways: readonly TestPostern[], user: User): Promise<string> {
  const [first] = gateways
  const token = first === undefined ? '' : await tokenFrom(first, user)
  for (const gateway of gateways) expect(await verdictOn(gateway, token)).toBe('live')
  return token
}

/** The token that a login gives. Throws when it gives none. */
export async function tokenFrom(
  gateway: TestPostern,
  { name: username, password }: Pick<User, 'name' | 'password'>,
): Promise<string> {
  const logIn = () => postLogin(gateway, { username, password, uuid: '-', code: '-' })
  let answer = await logIn()
  // On busy cores a store can miss its timeout. Clients retry a 503 too.
  while (answer.status === 503) answer = await logIn()
  const { token } = answer.json() as { token?: string }
  if (token === undefined) throw new Error(`no token: ${answer.body}`)
  return token
}

interface RevocationDetails {
  readonly stale: boolean
  readonly ageSeconds?: number
  readonly lastError?: string
  readonly snapshot?: { readonly current?: boolean; readonly failures: number }
}

/** What `/readyz?verbose` says of the list. */
export async function revocationState(gateway: TestPostern) {
  const answer = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz?verbose`)
  const { revocation } = (await answer.json()) as { revocation: RevocationDetails }
  return { status: answer.status, ...revocation }
}
