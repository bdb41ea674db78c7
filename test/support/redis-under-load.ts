import tls from 'node:tls'
import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createPolicyAuthor, type PolicyAuthor } from './policy-author.ts'
import { verdictOn } from './session-replicas.ts'
import { catalogueRules, startPostern, type TestPostern } from './start-postern.ts'
import { type StoreLoad, startStoreLoad } from './store-load.ts'
import { until } from './until.ts'

export interface UnderLoad {
  readonly gateways: readonly TestPostern[]
  readonly load: StoreLoad
  readonly author: PolicyAuthor
  /** How long a captcha and a login took while all was well, in ms. */
  readonly usualMs: number
  /** How long after this moment the first login was answered that began after it, in ms. */
  recovery(moment: number): Promise<number>
  /** Ends the load and expects that what was acknowledged is there. */
  nothingLost(): Promise<void>
}

export interface LoadedSite {
  readonly url: string
  readonly certificates: { readonly authorityText: string }
}

/** Two gateways and somebody who pushes policies, on this Redis and all at work. */
export async function startUnderLoad(
  { url, certificates }: LoadedSite,
  options: { readonly author?: boolean } = {},
): Promise<UnderLoad> {
  const usual = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...usual, certificates.authorityText])
  onTestFinished(() => tls.setDefaultCACertificates(usual))
  const redis = { url }
  const author = await createPolicyAuthor(redis, catalogueRules)
  onTestFinished(author.stop)
  await author.push()
  const start = () => startGateway({ url })
  const gateways = [await start(), await start()]
  author.failed.length = 0
  const load = startStoreLoad(gateways)
  onTestFinished(load.stop)
  if (options.author !== false) author.start()
  await until(() => load.logins.filter(({ ok }) => ok).length >= 6)
  const took = load.logins.map(({ from, at }) => at - from).sort((a, b) => a - b)

  return {
    usualMs: Math.round(took[Math.floor(took.length / 2)] ?? 0),
    gateways,
    load,
    author,
    async recovery(moment) {
      return Math.round((await load.loggedInAfter(moment)) - moment)
    },
    async nothingLost() {
      await load.loggedInAfter(performance.now())
      await load.stop()
      await author.rest()
      // It knows nothing but what Redis has.
      const newcomer = await start()
      // Gateways write back what the new primary lacks within seconds.
      for (const token of load.revoked) {
        await until(async () => (await verdictOn(newcomer, token)) === 'over')
      }
      expect(load.revoked.length).toBeGreaterThan(20)
      await expectPolicies(author, [...gateways, newcomer])
      await expectRows(newcomer, load.attempts)
      expect(load.calls.failed).toEqual([])
      expect(load.calls.total).toBeGreaterThan(100)
    },
  }
}

/** One gateway on this Redis, whose certificates are trusted already. */
export function startGateway({ url }: Pick<LoadedSite, 'url'>): Promise<TestPostern> {
  return startPostern({
    config: {
      redis: { url },
      policy: { source: 'redis', pollSeconds: 1 },
      login: { perAddressPerMinute: 100_000, captchaPerAddressPerMinute: 100_000 },
    },
  })
}

async function expectPolicies(
  { acknowledged, run }: PolicyAuthor,
  gateways: readonly TestPostern[],
): Promise<void> {
  const { out } = await run('history', '--limit', '500', '--output', 'json')
  const moves = JSON.parse(out) as readonly { revision: string; message: string }[]
  // In their order and once each, the first one included; others may have been published besides.
  const promised = acknowledged.map(({ message }) => message)
  const kept = moves.map(({ message }) => message).reverse()
  expect(kept.filter((message) => promised.includes(message))).toEqual(promised)
  expect(promised.length).toBeGreaterThan(5)
  const head = moves[0]?.revision
  await until(async () => {
    const live = await Promise.all(gateways.map(revisionOf))
    return live.every((revision) => revision === head)
  })
}

/** The policy that a gateway decides by. */
export async function revisionOf({ opsPort }: TestPostern): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz?verbose`)
  return ((await answer.json()) as { revision: string }).revision
}

/** Each attempt has one row, and not two. */
async function expectRows(gateway: TestPostern, agents: readonly string[]): Promise<void> {
  const database = await openDatabase({
    directory: gateway.dataDirectory,
    poolSize: 1,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 5000,
  })
  async function rows(): Promise<string[]> {
    const found = await sql<{ remark: string }>`select remark from sys_login_log`.execute(
      database.db,
    )
    return found.rows.map(({ remark }) => remark).filter((remark) => agents.includes(remark))
  }
  try {
    await until(async () => new Set(await rows()).size >= agents.length)
    expect((await rows()).sort()).toEqual([...agents].sort())
  } finally {
    await database.close()
  }
}
