import { type Certificates, createCertificates } from './certificates.ts'
import { freePort, type RedisServer, startRedis } from './redis-server.ts'
import { gatewayRights, sentinelRights, tlsOptions } from './redis-users.ts'
import { until } from './until.ts'

/** A primary, replicas and three sentinels, over TLS and with users of limited rights. */
export interface SentinelSite {
  readonly url: string
  readonly servers: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  readonly certificates: Certificates
  /** Cuts replicas off from the primary, until they join again: what is written now can get lost. */
  cut(): Promise<void>
  join(replicas: readonly RedisServer[]): Promise<void>
  /** The server that takes writes, once there is exactly one whose replicas follow it. */
  primary(): Promise<RedisServer>
  /** How many failovers there were: on busy cores sentinels may take a live server for dead. */
  failovers(): Promise<number>
  stop(): Promise<void>
}

const password = 'a-password-of-redis'
const user = (name: string, rights: readonly string[]) => [
  '--user',
  name,
  'on',
  `>${password}`,
  ...rights,
]

export async function startSentinelSite(replicas = 2): Promise<SentinelSite> {
  const certificates = await createCertificates('127.0.0.1')
  const ports: number[] = []
  const servers: RedisServer[] = []
  for (let number = 0; number <= replicas; number++) {
    const port = await freePort()
    ports.push(port)
    const follows = number === 0 ? [] : ['--replicaof', '127.0.0.1', String(ports[0])]
    servers.push(
      await startRedis({
        args: [
          ...tlsOptions(port, certificates, certificates),
          ...user('postern', gatewayRights),
          ...user('peer', ['-@all', '+psync', '+replconf', '+ping']),
          ...['--masteruser', 'peer', '--masterauth', password],
          ...[
            '--appendonly',
            'yes',
            '--repl-diskless-sync-delay',
            '0',
            '--repl-ping-replica-period',
            '1',
          ],
          ...follows,
        ],
      }),
    )
  }
  await until(async () => (await replicasOf(servers[0])) === replicas)

  const sentinels: RedisServer[] = []
  const sentinelPorts: number[] = []
  for (let number = 0; number < 3; number++) {
    const port = await freePort()
    sentinelPorts.push(port)
    sentinels.push(
      await startRedis({
        args: tlsOptions(port, certificates, certificates),
        sentinel: [
          `user postern on >${password} ${sentinelRights.join(' ')}`,
          `sentinel monitor postern 127.0.0.1 ${ports[0]} 2`,
          // Less than this, and on busy cores sentinels take live servers for dead, again and again.
          'sentinel down-after-milliseconds postern 2000',
          'sentinel failover-timeout postern 3000',
        ],
      }),
    )
  }
  async function numberAt({ client }: RedisServer, name: string): Promise<number> {
    const fields = (await client.call('SENTINEL', 'MASTER', 'postern')) as string[]
    return Number(fields[fields.indexOf(name) + 1])
  }
  for (const sentinel of sentinels) {
    await until(async () => (await numberAt(sentinel, 'num-other-sentinels')) === 2)
    await until(async () => (await numberAt(sentinel, 'num-slaves')) === replicas)
  }

  const hosts = sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')
  const query = `sentinelUsername=postern&sentinelPassword=${password}`
  const site: SentinelSite = {
    url: `rediss+sentinel://postern:${password}@${hosts}/postern?${query}`,
    servers,
    sentinels,
    certificates,
    async cut() {
      const primary = await site.primary()
      for (const server of servers) await server.client.config('SET', 'masterauth', 'wrong')
      await primary.client.call('CLIENT', 'KILL', 'TYPE', 'replica')
      await until(async () => (await replicasOf(primary)) === 0)
    },
    async join(cutOff) {
      for (const { client } of cutOff) await client.config('SET', 'masterauth', password)
    },
    async primary() {
      for (;;) {
        const counts = await Promise.all(servers.map((server) => replicasOf(server)))
        const at = counts.indexOf(replicas)
        const found = servers[at]
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async failovers() {
      const epochs = await Promise.all(sentinels.map((each) => numberAt(each, 'config-epoch')))
      return Math.max(...epochs)
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()))
      await certificates.remove()
    },
  }
  return site
}

/** How many replicas follow this server; -1 when it is a replica itself or does not answer. */
async function replicasOf(server: RedisServer | undefined): Promise<number> {
  const text = await server?.client.info('replication').catch(() => '')
  if (text === undefined || !text.includes('role:master')) return -1
  return text.match(/state=online/g)?.length ?? 0
}
