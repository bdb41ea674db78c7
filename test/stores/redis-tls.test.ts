import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import tls from 'node:tls'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest'
import { openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createSubscriber } from '../../src/stores/redis/redis-subscriber.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { documentOf } from '../support/policy-files.ts'
import { ask } from '../support/published-policies.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.ts'
import { tlsOptions } from '../support/redis-users.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const prefix = '{test}:'
const timeouts = { prefix, connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
const usual = tls.getCACertificates('default')
const first = documentOf(['clerk, /first, GET'])
const second = documentOf(['clerk, /second, GET'])

let certificates: Certificates
let redis: RedisServer
let port: number
beforeAll(async () => {
  certificates = await createCertificates()
  port = await freePort()
  const { certificate, key, authority } = certificates
  const files = [
    '--tls-cert-file',
    certificate,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    authority,
  ]
  redis = await startRedis({
    args: ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'],
  })
  await redis.client.call('ACL', 'SETUSER', 'eve', 'on', '>hunter2', '~*', '&*', '+@all')
})
afterAll(async () => {
  await redis.stop()
  await certificates.remove()
})
beforeEach(async () => {
  await redis.client.flushall()
})
afterEach(() => tls.setDefaultCACertificates(usual))

/** As NODE_EXTRA_CA_CERTS does for a process. */
const trust = () => tls.setDefaultCACertificates([...usual, certificates.authorityText])

const open = (url: string) => openPolicyStore({ ...timeouts, url })

describe('Redis over TLS', () => {
  test('publishes, and gateways hear of it', async () => {
    trust()
    const url = `rediss://eve:hunter2@localhost:${port}`
    const store = await open(url)
    onTestFinished(store.close)
    await store.publish(first, undefined, { kind: 'push' })
    const policy = { source: 'redis', pollSeconds: 1 }
    const postern = await startPostern({ config: { redis: { url, prefix }, policy } })
    expect(await ask(postern, '/first')).toBe('allowed')
    const listeners = () => redis.client.pubsub('NUMSUB', `${prefix}policy`)
    await until(async () => (await listeners())[1] === 1)

    await store.publish(second, first.revision, { kind: 'push' })

    await until(async () => (await ask(postern, '/second')) === 'allowed')
    expect(await store.replicas()).toHaveLength(1)
  })

  test.each([
    ['of an authority that nobody trusts', 'localhost', false, 'certificate'],
    ['for another name', '127.0.0.1', true, 'does not match'],
  ])('is refused with a certificate %s', async (_, host, isTrusted, reason) => {
    if (isTrusted) trust()

    const attempt = open(`rediss://eve:hunter2@${host}:${port}`)

    await expect(attempt).rejects.toMatchObject({ part: 'redis' })
    await expect(attempt).rejects.toThrow(reason)
    await expect(attempt).rejects.not.toThrow('hunter2')
  })

  test('is not spoken where the other side does not speak it', async () => {
    trust()

    await expect(open(`rediss://eve:hunter2@localhost:${redis.port}`)).rejects.toThrow('Redis')
    await expect(open(`redis://eve:hunter2@localhost:${port}`)).rejects.toThrow('Redis')
  })

  describe('says the name of the server first (SNI), which some services need to know', () => {
    /** Speaks TLS for a Redis that does not, and notes the names that it is called by. */
    async function startFront(target: () => number) {
      const [cert, key] = [
        await readFile(certificates.certificate),
        await readFile(certificates.key),
      ]
      const names: unknown[] = []
      const server = tls.createServer({ cert, key }, (socket) => {
        names.push(socket.servername)
        const behind = connect(target(), '127.0.0.1')
        socket.on('error', () => behind.destroy())
        behind.on('error', () => socket.destroy())
        socket.pipe(behind).pipe(socket)
      })
      server.listen(0, 'localhost')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      return { names, port: (server.address() as AddressInfo).port }
    }

    async function publishAndListen(url: string) {
      trust()
      const store = await open(url)
      onTestFinished(store.close)
      let hints = 0
      const subscriber = createSubscriber(
        { ...timeouts, url },
        { channel: `${prefix}policy`, onHint: () => hints++ },
      )
      onTestFinished(subscriber.close)
      await until(() => hints === 1)
      await store.publish(first, undefined, { kind: 'push' })
      await until(() => hints === 2)
    }

    test('to a lone Redis', async () => {
      const front = await startFront(() => redis.port)

      await publishAndListen(`rediss://localhost:${front.port}`)

      expect(front.names).toEqual(['localhost', 'localhost'])
    })

    test('to the nodes of a cluster', async () => {
      const front = await startFront(() => node.port)
      const node = await startRedis({
        args: [
          ...['--cluster-enabled', 'yes', '--cluster-announce-port', String(front.port)],
          ...['--cluster-announce-hostname', 'localhost', '--cluster-announce-ip', '127.0.0.1'],
          ...['--cluster-preferred-endpoint-type', 'hostname'],
        ],
      })
      onTestFinished(node.stop)
      await node.client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
      await until(async () => String(await node.client.cluster('INFO')).includes('state:ok'))

      await publishAndListen(`rediss+cluster://localhost:${front.port}`)

      expect(front.names.length).toBeGreaterThan(2)
      expect(new Set(front.names)).toEqual(new Set(['localhost']))
    })

    test('to sentinels and to the primary they name', async () => {
      const primary = await startFront(() => redis.port)
      const asSentinel = await startFront(() => sentinel.port)
      const sentinel = await startRedis({
        args: tlsOptions(await freePort(), certificates, certificates),
        sentinel: [
          'sentinel resolve-hostnames yes',
          'sentinel announce-hostnames yes',
          `sentinel monitor postern localhost ${primary.port} 1`,
        ],
      })
      onTestFinished(sentinel.stop)
      await until(() => primary.names.length > 0)

      await publishAndListen(`rediss+sentinel://localhost:${asSentinel.port}/postern`)

      expect(asSentinel.names).toEqual(['localhost', 'localhost'])
      // Sentinels themselves do not say a name.
      expect(primary.names.filter((name) => name === 'localhost')).toHaveLength(2)
    })
  })
})
