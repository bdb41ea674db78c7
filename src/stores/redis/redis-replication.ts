import { withTimeout } from '../../background/with-timeout.ts'
import type { RedisConnection } from './redis-connection.ts'
import { isSameHost, type SentinelConsensus } from './redis-sentinels.ts'

/** A list in Redis, and why a failover could still lose part of it, if so. */
interface ReplicatedList {
  readonly values: readonly string[]
  readonly atRisk?: string
}

interface ReplicatedRead {
  readonly list: string
  /** A key that may be overwritten: WAIT is about the writes of its own connection. */
  readonly marker: string
  /** How long replicas may take. */
  readonly waitMs: number
}

/**
 * Reads a list and makes sure that no failover loses what was read: every replica has it, those that
 * Sentinel knows and cannot reach included. One replica is not enough: Sentinel may have promoted
 * another one already, and may promote one that returns with old data. Throws when a failover
 * interferes; then it is worth another try.
 */
export async function readReplicated(
  { driver, sentinel }: RedisConnection,
  read: ReplicatedRead,
): Promise<ReplicatedList> {
  const known = Math.max(1, (await sentinel?.ask())?.replicas ?? 0)
  const opened = sentinel?.opened()
  let found = await confirm(driver, read, known)
  const { connected = 0 } = found
  // More replicas follow it than were waited for.
  if (connected > known) found = await confirm(driver, read, connected)
  const { values, confirmed } = found

  // The server may have been deposed meanwhile: what it confirms then counts for nothing.
  const now = await sentinel?.ask()
  if (opened !== undefined && now !== undefined && !isSameHost(opened.primary, now.primary)) {
    sentinel?.leave()
    throw new Error('Sentinel has promoted another server')
  }
  // The first answer may lack a count, or a replica that Sentinel has found meanwhile.
  const needed = Math.max(known, connected, now?.replicas ?? 0)
  if (confirmed === undefined || confirmed < needed) {
    if (now?.isFailingOver) throw new Error('Sentinel is failing over')
    return { values, atRisk: whyNot(confirmed, needed) }
  }
  if (sentinel === undefined && found.connected === undefined) {
    return { values, atRisk: 'the Redis user lacks +info' }
  }
  return { values, ...doubt(now) }
}

async function confirm(
  driver: RedisConnection['driver'],
  { list, marker, waitMs }: ReplicatedRead,
  replicas: number,
) {
  // In one go: so all of it is answered by one server, in a cluster by the node of our keys.
  const answers = driver
    .pipeline()
    .lrange(list, 0, -1)
    .info('replication')
    .set(marker, '1', 'PX', 60_000)
    .call('WAIT', replicas, waitMs)
    .exec()
  const [values, info, mark, confirmed] = (await withTimeout(2 * waitMs, answers)) ?? []
  result(mark)
  const replication = permitted(info) as string | undefined
  return {
    values: result(values) as string[],
    /** How many replicas follow this server. `undefined`: we may not ask. */
    connected: replication === undefined ? undefined : followersIn(replication),
    /** How many have all of it. `undefined`: we may not ask. */
    confirmed: permitted(confirmed) as number | undefined,
  }
}

function followersIn(replication: string): number {
  return Number(/^connected_slaves:(\d+)/m.exec(replication)?.[1] ?? 0)
}

type Answer = readonly [error: Error | null, value: unknown]

function result([error, value]: Answer = [new Error('no answer'), undefined]): unknown {
  if (error !== null) throw error
  return value
}

/** `undefined` when an ACL forbids the command. */
function permitted(answer: Answer | undefined): unknown {
  return answer?.[0]?.message.startsWith('NOPERM') ? undefined : result(answer)
}

function whyNot(confirmed: number | undefined, needed: number): string {
  if (confirmed === undefined) return 'the Redis user lacks +wait'
  if (confirmed === 0) return 'no replica of Redis has confirmed it'
  return `${confirmed} of ${needed} replicas of Redis have confirmed it`
}

function doubt(now: SentinelConsensus | undefined): { readonly atRisk?: string } {
  if (now === undefined) return {}
  if (now.replicas === undefined)
    return { atRisk: 'the user at the sentinels lacks +sentinel|master' }
  return now.isAgreed ? {} : { atRisk: 'no majority of the sentinels names this primary' }
}
