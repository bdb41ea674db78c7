import { onTestFinished } from 'vitest'
import { openPolicyStore, type PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { documentOf } from './policy-files.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { startPostern, type TestPostern } from './start-postern.ts'

export const prefix = '{test}:'

/** What became of a call: let through, refused by the policy, or the gateway could not tell. */
export type Verdict = 'allowed' | 'denied' | 'fault'

export interface PublishedOptions {
  /** Published before the gateway starts; nothing is, when this is left out. */
  readonly rules?: readonly string[]
  /** The port on which the gateway looks for Redis, when it is not Redis itself. */
  readonly port?: number
  readonly redis?: RedisServer
  readonly policy?: Readonly<Record<string, unknown>>
}

/** A gateway that takes its policy from a Redis of its own. */
export interface Published {
  readonly redis: RedisServer
  readonly postern: TestPostern
  /** Publishes these rules from whatever the head is now, and returns their revision. */
  publish(rules: readonly string[]): Promise<string>
  /** Calls `GET path` as a clerk. */
  ask(path: string): Promise<Verdict>
  readyz(): Promise<Readyz>
}

export interface Readyz {
  readonly status: number
  readonly revision: string | null
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  readonly policy: {
    readonly stale: boolean
    readonly sequence?: number
    readonly lastError?: string
    readonly shadow?: { readonly since?: string; readonly lastError?: string }
    readonly reloads: { readonly ok: number; readonly failed: number }
  }
}

export async function testRedis(): Promise<RedisServer> {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  return redis
}

export async function testStore({ url }: { readonly url: string }): Promise<PolicyStore> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const store = await openPolicyStore({ url, prefix, ...timeouts })
  onTestFinished(store.close)
  return store
}

/** Publishes these rules from whatever the head is, and returns their revision. */
export async function publish(url: string, rules: readonly string[]): Promise<string> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
  const store = await openPolicyStore({ url, prefix, ...timeouts })
  try {
    const document = documentOf(rules)
    const { moved } = await store.publish(document, (await store.head())?.revision, {
      kind: 'push',
    })
    if (!moved) throw new Error('somebody else published')
    return document.revision
  } finally {
    await store.close()
  }
}

/** Starts Redis, publishes, starts the gateway. All of it ends with the test. */
export async function startPublished(options: PublishedOptions = {}): Promise<Published> {
  const redis = options.redis ?? (await testRedis())
  if (options.rules !== undefined) await publish(redis.url, options.rules)
  const url = `redis://127.0.0.1:${options.port ?? redis.port}`
  const postern = await startPostern({
    config: {
      redis: { url, prefix },
      policy: { source: 'redis', pollSeconds: 1, ...options.policy },
    },
  })

  return {
    redis,
    postern,
    publish: (rules) => publish(redis.url, rules),
    ask: (path) => ask(postern, path),
    readyz: () => readyz(postern.opsPort),
  }
}

export async function ask(
  postern: Pick<TestPostern, 'call'>,
  path: string,
  as = 'clerk',
): Promise<Verdict> {
  const answer = await postern.call(`GET ${path}`, { as })
  if (answer.status === 503) return 'fault'
  const { code, ok } = answer.json() as { code?: number; ok?: boolean }
  if (answer.status === 200 && ok === true) return 'allowed'
  if (answer.status === 200 && code === 401) return 'denied'
  throw new Error(`unexpected answer ${answer.status}: ${answer.body}`)
}

export async function readyz(opsPort: number): Promise<Readyz> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return { status: answer.status, ...((await answer.json()) as Omit<Readyz, 'status'>) }
}

/** Keeps asking, in four lanes, until the work is done. Returns every verdict there was. */
export async function askDuring(
  published: Pick<Published, 'ask'>,
  path: string,
  work: () => Promise<void>,
): Promise<ReadonlySet<Verdict>> {
  const verdicts = new Set<Verdict>()
  let working = true
  const lanes = Array.from({ length: 4 }, async () => {
    while (working) verdicts.add(await published.ask(path))
  })
  await work().finally(() => {
    working = false
  })
  await Promise.all(lanes)
  return verdicts
}
