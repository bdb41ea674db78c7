import dns from 'node:dns'
import { type Certificates, createCertificates } from './certificates.ts'
import { freePort, type RedisServer, startRedis } from './redis-server.ts'
import { clusterRights, gatewayRights, tlsOptions } from './redis-users.ts'
import { until } from './until.ts'

export interface ClusterNode extends RedisServer {
  readonly name: string
  readonly id: string
  readonly tlsPort: number
}

/** Three primaries with a replica each, over TLS, under names, with a user of limited rights. */
export interface ClusterSite {
  readonly url: string
  readonly nodes: readonly ClusterNode[]
  readonly certificates: Certificates
  /** The slot of every key that begins with `{postern}:`. */
  readonly slot: number
  /** The node that serves this slot. */
  owner(): Promise<ClusterNode>
  /** Moves the slot, as `redis-cli --cluster reshard` does, key by key. */
  move(to: ClusterNode, onHalfway?: () => Promise<void>): Promise<void>
  /** Waits until every node that answers finds the cluster well. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const password = 'a-password-of-redis'

export async function startClusterSite(): Promise<ClusterSite> {
  const certificates = await createCertificates()
  const named = resolveNames()
  const nodes: ClusterNode[] = []
  for (let number = 1; number <= 6; number++) nodes.push(await startNode(number, certificates))
  const [first, ...others] = nodes as [ClusterNode, ...ClusterNode[]]
  const busPort = async ({ client }: ClusterNode) =>
    ((await client.config('GET', 'cluster-port')) as string[])[1] ?? ''
  for (const other of others) {
    await first.client.cluster('MEET', '127.0.0.1', other.tlsPort, Number(await busPort(other)))
  }
  const ranges = [
    [0, 5460],
    [5461, 10922],
    [10923, 16383],
  ] as const
  for (const [at, [from, to]] of ranges.entries()) {
    await nodes[at]?.client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
  }
  const knows = async ({ client }: ClusterNode) =>
    String(await client.cluster('INFO')).includes('cluster_known_nodes:6')
  for (const node of nodes) await until(() => knows(node))
  for (const [at, node] of nodes.slice(3).entries()) {
    await until(() =>
      node.client.call('CLUSTER', 'REPLICATE', nodes[at]?.id ?? '').then(
        () => true,
        () => false,
      ),
    )
  }
  const slot = Number(await first.client.call('CLUSTER', 'KEYSLOT', '{postern}:'))

  async function settled(): Promise<void> {
    await until(async () => {
      const states = await Promise.all(
        nodes.map(({ client }) => client.cluster('NODES').then(String, () => '')),
      )
      const infos = await Promise.all(
        nodes.map(({ client }) => client.cluster('INFO').then(String, () => 'cluster_state:ok')),
      )
      return (
        infos.every((text) => text.includes('cluster_state:ok')) &&
        states.every((text) => text === '' || !/handshake/.test(text))
      )
    })
  }

  async function owner(): Promise<ClusterNode> {
    for (;;) {
      for (const node of nodes) {
        const text = await node.client.cluster('NODES').then(String, () => '')
        const own = text.split('\n').find((line) => line.includes('myself'))
        if (own?.includes('master') && holds(own, slot)) return node
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function move(to: ClusterNode, onHalfway = async () => {}): Promise<void> {
    const from = await owner()
    await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
    await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
    for (let moved = 0; ; moved++) {
      const keys = (await from.client.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[]
      if (keys.length === 0) break
      await from.client.call('MIGRATE', '127.0.0.1', to.tlsPort, '', 0, 5000, 'KEYS', ...keys)
      if (moved === 1) await onHalfway()
    }
    await to.client.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    await from.client.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    for (const { client, id } of nodes) {
      if (id !== to.id && id !== from.id)
        await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id).catch(() => {})
    }
  }

  const hosts = nodes.map(({ name, tlsPort }) => `${name}:${tlsPort}`).join(',')
  await settled()
  return {
    url: `rediss+cluster://postern:${password}@${hosts}`,
    nodes,
    certificates,
    slot,
    owner,
    move,
    settled,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
      await certificates.remove()
      named.stop()
    },
  }
}

async function startNode(number: number, certificates: Certificates): Promise<ClusterNode> {
  const name = `node${number}.redis.test`
  const [tlsPort, busPort] = [await freePort(), await freePort()]
  const server = await startRedis({
    args: [
      ...tlsOptions(tlsPort, certificates, await certificates.issue(name)),
      ...['--tls-cluster', 'yes', '--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '1000', '--cluster-announce-hostname', name],
      ...['--cluster-preferred-endpoint-type', 'hostname', '--cluster-announce-ip', '127.0.0.1'],
      ...['--user', 'postern', 'on', `>${password}`, ...gatewayRights, ...clusterRights],
      ...[
        '--appendonly',
        'yes',
        '--repl-diskless-sync-delay',
        '0',
        '--repl-ping-replica-period',
        '1',
      ],
    ],
  })
  return { ...server, name, tlsPort, id: String(await server.client.cluster('MYID')) }
}

/** Names below `redis.test` are this machine's, in this process. */
function resolveNames() {
  const usual = dns.lookup
  const lookup = (name: string, ...rest: unknown[]) =>
    (usual as (...args: unknown[]) => unknown)(
      name.endsWith('.redis.test') ? '127.0.0.1' : name,
      ...rest,
    )
  dns.lookup = lookup as typeof dns.lookup
  return {
    stop() {
      dns.lookup = usual
    },
  }
}

function holds(line: string, slot: number): boolean {
  return line
    .split(' ')
    .slice(8)
    .some((range) => {
      const [from = '', to = from] = range.split('-')
      return Number(from) <= slot && slot <= Number(to)
    })
}
