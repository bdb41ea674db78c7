import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createPasswordHash } from '../../src/login/password-hash.ts'
import { insertAccount, insertRole } from '../../src/stores/accounts/account-insert.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createDocument, openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import type { RedisSettings } from '../../src/stores/redis/redis.ts'
import { type GatewayProcess, startGatewayProcess } from '../../test/support/gateway-process.ts'
import { freePort, startRedis } from '../../test/support/redis-server.ts'
import { testSecret } from '../../test/support/tokens.ts'
import { atExit } from '../run/at-exit.ts'
import { posternFlags } from '../run/node-flags.ts'
import { startUpstream, type Upstream } from '../run/upstream.ts'
import { filesOf, roles } from './policy.ts'

/** A gateway with its console, and the fleet around it. */
export interface World {
  /** SIGUSR1 makes it listen for an inspector there. */
  readonly gateway: GatewayProcess & { readonly inspectPort: number }
  readonly upstream: Upstream
  readonly redis: RedisSettings
  /** Of the console; ends with a slash. */
  readonly address: string
  /** The two newest revisions, the live one last. */
  readonly revisions: readonly [string, string]
  /** The cookie of an administrator. */
  readonly cookie: { readonly name: string; readonly value: string }
  readonly directory: string
  stop(): Promise<void>
}

const prefix = '{console}:'

/** `replicas` includes the gateway itself. */
export async function startWorld(replicas: number): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-bench-console-'))
  const redis = await startRedis()
  const upstream = await startUpstream(directory)
  const dataDirectory = join(directory, 'data')
  const password = await seedDatabase(dataDirectory)
  const revisions = await publish(redis.url)
  const inspectPort = await freePort()
  const started = await startGatewayProcess(
    join(directory, 'postern.yaml'),
    {
      application: { mode: 'dev', host: '127.0.0.1', port: 0, dataDirectory },
      ops: { host: '127.0.0.1', port: 0 },
      jwt: { secret: testSecret },
      redis: { url: redis.url, prefix, commandTimeoutMs: 5000 },
      policy: { source: 'redis' },
      console: { enabled: true, port: 0 },
      upstreams: { app: { targets: [`http://127.0.0.1:${upstream.port}`], connections: 1024 } },
      routes: [{ path: '/api/v1', upstream: 'app' }],
    },
    { env: { NODE_OPTIONS: `${posternFlags.join(' ')} --inspect-port=127.0.0.1:${inspectPort}` } },
  )
  const gateway = { ...started, inspectPort }
  const listening = () => gateway.log.find(({ msg }) => msg === 'console listening')
  while (listening() === undefined) await pause(50)
  const address = String(listening()?.['address'])

  const args = [redis.url, prefix, String(replicas - 1)]
  const others = fork(join(import.meta.dirname, 'replicas.ts'), args)
  const forget = atExit(() => void others.kill('SIGKILL'))
  await once(others, 'message')
  return {
    ...{ gateway, upstream, address, revisions, directory },
    redis: { url: redis.url, prefix, connectTimeoutMs: 30_000, commandTimeoutMs: 30_000 },
    cookie: await logIn(address, password),
    async stop() {
      forget()
      others.kill()
      await gateway.stop()
      await upstream.stop()
      await redis.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** An account for each role besides the first ones. Returns the password of `admin`. */
async function seedDatabase(directory: string): Promise<string> {
  const timeouts = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
  const database = await openDatabase({ directory, poolSize: 1, ...timeouts })
  const { hash } = createPasswordHash({ concurrency: 2, queue: 10 })
  const [admin] = await seedAccounts(database, hash)
  const shape = await database.shapes()
  const passwordHash = await hash('not used by anyone')
  await database.db.transaction().execute(async (inside) => {
    for (const roleKey of roles) {
      await insertRole(inside, shape, { roleKey, roleName: roleKey, dataScope: '5', admin: false })
      await insertAccount(inside, shape, { username: `user-${roleKey}`, roleKey, passwordHash })
    }
  })
  await database.close()
  return admin?.password ?? ''
}

async function publish(url: string): Promise<readonly [string, string]> {
  const timeouts = { connectTimeoutMs: 30_000, commandTimeoutMs: 30_000 }
  const store = await openPolicyStore({ url, prefix, ...timeouts })
  const published: string[] = []
  for (let revision = 0; revision < 10; revision++) {
    const parent = published.at(-1)
    const about = { author: 'bench', message: `change ${revision}`, parent, now: new Date() }
    const document = createDocument(filesOf(revision), about)
    await store.publish(document, parent, { kind: 'push' })
    published.push(document.revision)
  }
  await store.close()
  return [published.at(-2) ?? '', published.at(-1) ?? '']
}

async function logIn(address: string, password: string): Promise<World['cookie']> {
  const answer = await fetch(`${address}api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1)
  const [name, value] = cookie.split('=', 2)
  if (!name || !value) throw new Error(`login: ${answer.status} ${await answer.text()}`)
  return { name, value }
}
