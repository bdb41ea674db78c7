import { setTimeout as pause } from 'node:timers/promises'
import type { RedisAddress } from './redis-address.ts'
import { connectorTo, type RedisHost } from './redis-connector.ts'
import { loadDriver } from './redis-driver.ts'

interface SentinelTimeouts {
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
}

/** What one sentinel says. */
export interface SentinelAnswer {
  readonly primary: RedisHost
  /** How new the answer is: every failover raises the epoch. */
  readonly epoch: number
  /** How many replicas it knows, unreachable ones included. `undefined`: we may not ask. */
  readonly replicas: number | undefined
  /** It calls the primary down, or is promoting a replica. */
  readonly isFailingOver: boolean
  /** The primary may be down, or this Sentinel alone cannot reach it. */
  readonly isDoubtful: boolean
}

/** What the sentinels say together: the newest answer, and how many share it. */
export interface SentinelConsensus extends SentinelAnswer {
  /** Whether more than half of the sentinels in the URL name this primary. */
  readonly isAgreed: boolean
}

export type Sentinels = ReturnType<typeof createSentinels>

/** How long the other sentinels may take once the first has answered. */
const othersMs = 100

/**
 * The newest answer counts: a sentinel that went down with the primary does not cost a timeout, and
 * one that has not heard of a failover does not send us to the old primary.
 */
export function createSentinels(
  { hosts, master = '', tls, ...address }: RedisAddress,
  { connectTimeoutMs, commandTimeoutMs }: SentinelTimeouts,
) {
  const { Redis } = loadDriver()
  let turn = Math.floor(Math.random() * hosts.length)

  /** A connection to one sentinel. */
  function linkTo(sentinel: RedisHost) {
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
    return {
      async ask(): Promise<SentinelAnswer> {
        try {
          const [found, fields] = await Promise.all([
            client.call('SENTINEL', 'get-master-addr-by-name', master) as Promise<string[] | null>,
            // An older ACL of ours lacks this one; then all answers count the same.
            client.call('SENTINEL', 'master', master).then(fieldsOf, () => undefined),
          ])
          const [host, port] = found ?? []
          if (host === undefined) throw new Error(`the sentinels do not watch "${master}"`)
          return { primary: { host, port: Number(port) }, ...stateIn(fields) }
        } catch (error) {
          throw reason ?? error
        }
      },
      close: () => client.disconnect(),
    }
  }

  async function askOnce(sentinel: RedisHost): Promise<SentinelAnswer> {
    const link = linkTo(sentinel)
    try {
      return await link.ask()
    } finally {
      link.close()
    }
  }

  async function consult(
    askEach: (sentinel: RedisHost) => Promise<SentinelAnswer>,
    majority = false,
  ): Promise<SentinelConsensus> {
    const answers: SentinelAnswer[] = []
    const { promise: most, resolve } = Promise.withResolvers<void>()
    const queries = hosts.map(async (sentinel) => {
      answers.push(await askEach(sentinel))
      if (2 * answers.length > hosts.length) resolve()
    })
    await Promise.any(queries)
    const enough = Promise.all([pause(othersMs), majority ? most : undefined])
    await Promise.race([Promise.allSettled(queries), enough])
    return consensusOf(answers, hosts.length)
  }

  /** Links that open when they are used. Each call begins with the next sentinel. */
  function link() {
    const links = new Map<RedisHost, ReturnType<typeof linkTo>>()
    let own = turn++

    async function askKept(sentinel: RedisHost): Promise<SentinelAnswer> {
      const link = links.get(sentinel) ?? linkTo(sentinel)
      links.set(sentinel, link)
      try {
        return await link.ask()
      } catch (error) {
        link.close()
        if (links.get(sentinel) === link) links.delete(sentinel)
        throw error
      }
    }

    return {
      async askOne() {
        try {
          return await askKept(hosts[own % hosts.length] ?? { host: '', port: 0 })
        } catch (error) {
          own++
          throw error
        }
      },
      askAll: () => consult(askKept),
      close() {
        for (const each of links.values()) each.close()
        links.clear()
      },
    }
  }

  return {
    /**
     * Asks all sentinels at once, over new connections. Waits for little more than the first answer,
     * or for those of the majority.
     */
    ask: ({ majority }: { readonly majority?: boolean } = {}) => consult(askOnce, majority),
    link,
  }
}

export function isSameHost(one: RedisHost, other: RedisHost): boolean {
  return one.host === other.host && one.port === other.port
}

function consensusOf(answers: readonly SentinelAnswer[], sentinels: number): SentinelConsensus {
  const newest = answers.reduce((best, each) => (each.epoch > best.epoch ? each : best))
  const agreeing = answers.filter(({ primary }) => isSameHost(primary, newest.primary))
  const counts = agreeing.flatMap(({ replicas }) => replicas ?? [])
  return {
    ...newest,
    replicas: counts.length === 0 ? undefined : Math.max(...counts),
    isFailingOver: answers.some(({ isFailingOver }) => isFailingOver),
    isDoubtful: answers.some(({ isDoubtful }) => isDoubtful),
    isAgreed: 2 * agreeing.length > sentinels,
  }
}

/** The fields of `SENTINEL MASTER` come as one flat list of names and values. */
function fieldsOf(list: unknown): ReadonlyMap<string, string> | undefined {
  if (!Array.isArray(list)) return undefined
  const fields = new Map<string, string>()
  for (let at = 0; at < list.length; at += 2) fields.set(String(list[at]), String(list[at + 1]))
  return fields
}

function stateIn(fields: ReadonlyMap<string, string> | undefined): Omit<SentinelAnswer, 'primary'> {
  const numberIn = (name: string) => {
    const number = Number(fields?.get(name))
    return Number.isSafeInteger(number) ? number : undefined
  }
  const flags = fields?.get('flags') ?? ''
  return {
    epoch: numberIn('config-epoch') ?? 0,
    replicas: numberIn('num-slaves'),
    isFailingOver: /o_down|failover_in_progress/.test(flags),
    isDoubtful: /_down|failover_in_progress/.test(flags),
  }
}
