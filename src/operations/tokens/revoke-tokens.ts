import { modeFacts } from '../../config/mode.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import type { RedisSettings } from '../../stores/redis/redis.ts'
import { createDatabaseRevocations } from '../../stores/revocations/database-revocations.ts'
import { createRedisRevocations } from '../../stores/revocations/redis-revocations.ts'
import { PAGE, type RevocationStore } from '../../stores/revocations/revocation-store.ts'
import type { Revocations } from '../../token/revocations.ts'
import { userRevocation } from '../../token/user-marks.ts'
import type { AccountSettings, withDatabase } from '../configured-database.ts'
import { withRedis } from '../configured-redis.ts'
import { withInteractiveTimeouts } from '../policy-settings.ts'

/**
 * Opens the list of revoked tokens that the gateways follow, runs `work` and closes it. Redis where it
 * is configured, because replicas share it; otherwise the accounts' database.
 */
export async function withRevocations<Result>(
  config: Config,
  database: Database,
  work: (store: RevocationStore) => Promise<Result>,
): Promise<Result> {
  const settings = redisOf(config)
  if (settings === undefined) return work(createDatabaseRevocations(database))
  // Never shared: to publish a revocation, Redis may have to wait for its replicas.
  return withRedis(settings, undefined, (redis) => work(createRedisRevocations(redis, settings)))
}

/** Adds the list that gateways follow to `known`. `open` opens the database, where that keeps the list. */
export async function readRevocations(
  known: Revocations,
  settings: AccountSettings,
  open: typeof withDatabase,
): Promise<void> {
  const read = (store: RevocationStore) => addRevocations(known, store)
  const redis = redisOf(settings.config)
  if (redis === undefined) {
    await open(settings, (database) => read(createDatabaseRevocations(database)))
  } else {
    await withRedis(redis, settings.shared, (client) => read(createRedisRevocations(client, redis)))
  }
}

/** Adds everything that the list has to `known`. */
export async function addRevocations(known: Revocations, store: RevocationStore): Promise<void> {
  let page = await store.read(undefined)
  while (page !== undefined) {
    for (const revocation of page.revocations) known.add(revocation)
    page = page.more ? await store.read(page.position) : undefined
  }
}

/** The Redis that keeps revocations and sessions; `undefined`: the accounts' database does. */
export function redisOf({ redis }: Config): RedisSettings | undefined {
  const { url } = redis
  return url === undefined ? undefined : withInteractiveTimeouts({ ...redis, url })
}

/** Revokes every token that these users have now, on every gateway. */
export async function revokeTokensOf(
  userIds: readonly string[],
  config: Config,
  database: Database,
): Promise<void> {
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  await withRevocations(config, database, async (store) => {
    for (let at = 0; at < userIds.length; at += PAGE) {
      const entries = userIds.slice(at, at + PAGE).map((userId) => userRevocation(userId, mode))
      await store.append(entries, 'now')
    }
  })
}

/** A change after which the older tokens of these users must not be accepted. */
interface Stale {
  readonly userIds: readonly string[]
  /** What was done. */
  readonly message: string
  /** Which tokens are revoked, where that is not every token of a user. */
  readonly revoked?: string
  /** What to say if that fails: which tokens stay valid, and what to do. */
  readonly failed: { readonly still: string; readonly next: string }
}

/**
 * Revokes tokens after a change, and answers. A store that fails is reported beside the change, which
 * stays: the operator must learn both.
 */
export async function answerRevoked<Done extends object, Shown extends object = object>(
  { userIds, message, revoked = 'all tokens issued until now', failed }: Stale,
  { config, database }: { readonly config: Config; readonly database: Database },
  done: Done,
  shown?: Shown,
) {
  const problem = await revocationProblem(userIds, config, database)
  const tokensEnded = userIds.length > 0 && problem === undefined
  const document = { ...done, tokensEnded, ...(shown as Shown) }
  if (problem === undefined) {
    return { document, notes: [`${message}${tokensEnded ? `; revoked ${revoked}` : ''}`] }
  }
  const note = `${failed.still}: ${problem}; once that is fixed, ${failed.next}`
  return { document, notes: [message, note], outcome: 'unavailable' as const }
}

/** The tokens of an account. Named by ID, because names can have changed. */
export function tokensOf(name: string, userIds: readonly string[], message: string): Stale {
  const commands = userIds.map((id) => `"postern token revoke --user ${id}"`)
  const next = `run ${commands.join(' and ')}`
  return { userIds, message, failed: { still: `the tokens of ${name} are still valid`, next } }
}

async function revocationProblem(
  userIds: readonly string[],
  config: Config,
  database: Database,
): Promise<string | undefined> {
  if (userIds.length === 0) return undefined
  try {
    await revokeTokensOf(userIds, config, database)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The ids of the users whom an operator means by a name or an ID; none: no such user. */
export async function usersNamed(named: string, database: Database): Promise<readonly string[]> {
  const byName = await createAccountDirectory(database).idsOf(named)
  // A name of digits may also be meant as an ID: revoking too much is the lesser mistake.
  const isId = /^(?:0|[1-9]\d{0,18})$/.test(named)
  return [...new Set([...byName, ...(isId ? [named] : [])])]
}
