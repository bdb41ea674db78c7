import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedisAddress } from './redis-address.ts'
import { connectorTo, type RedisHost } from './redis-connector.ts'

interface SentinelTimeouts {
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** Which server a sentinel calls primary, and how new that is: every failover raises the epoch. */
interface SentinelAnswer {
  readonly primary: RedisHost
  readonly epoch: number
}

/** How long the other sentinels may take once the first has answered. */
const othersMs = 100

/**
 * Asks all sentinels at once and takes the newest answer: one that went down with the primary does
 * not cost a timeout, and one that has not heard of a failover does not send us to the old primary.
 */
export function createFindPrimary(
  { hosts, master = '', tls, ...address }: RedisAddress,
  { connectTimeoutMs, commandTimeoutMs }: SentinelTimeouts,
): () => Promise<RedisHost> {
  async function ask(sentinel: RedisHost): Promise<SentinelAnswer> {
    const client = new Redis({
      ...sentinel,
      ...(address.sentinelUsername !== undefined && { username: address.sentinelUsername }),
      ...(address.sentinelPassword !== undefined && { password: address.sentinelPassword }),
      ...(tls && { tls: {} }),
      Connector: connectorTo({ tls, find: (own) => own, retryMs: () => 0 }),
      connectTimeout: connectTimeoutMs,
      commandTimeout: connectTimeoutMs + commandTimeoutMs,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
      protocol: 2,
      disableClientInfo: true,
      lazyConnect: true,
    })
    let reason: Error | undefined
    client.on('error', (error) => {
      reason = error
    })
    try {
      const [found, epoch] = await Promise.all([
        client.call('SENTINEL', 'get-master-addr-by-name', master) as Promise<string[] | null>,
        // An older ACL of ours lacks this one; then all answers count the same.
        client.call('SENTINEL', 'master', master).then(epochOf, () => 0),
      ])
      const [host, port] = found ?? []
      if (host === undefined) throw new Error(`the sentinels do not watch "${master}"`)
      return { primary: { host, port: Number(port) }, epoch }
    } catch (error) {
      throw reason ?? error
    } finally {
      client.disconnect()
    }
  }

  return async () => {
    const answers: SentinelAnswer[] = []
    const asked = hosts.map(async (sentinel) => answers.push(await ask(sentinel)))
    await Promise.any(asked)
    await Promise.race([Promise.allSettled(asked), pause(othersMs)])
    return answers.reduce((newest, answer) => (answer.epoch > newest.epoch ? answer : newest))
      .primary
  }
}

/** The fields of `SENTINEL MASTER` come as one flat list. */
function epochOf(fields: unknown): number {
  if (!Array.isArray(fields)) return 0
  const epoch = Number(fields[fields.indexOf('config-epoch') + 1])
  return Number.isSafeInteger(epoch) ? epoch : 0
}
