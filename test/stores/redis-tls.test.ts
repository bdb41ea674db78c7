import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
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
import { openPolicyStore } from '../../src/stores/policies.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { documentOf } from '../support/policy-files.ts'
import { ask } from '../support/published-policies.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.ts'
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
    await store.publish(first, undefined, 'push')
    const policy = { source: 'redis', pollSeconds: 1 }
    const postern = await startPostern({ config: { redis: { url, prefix }, policy } })
    expect(await ask(postern, '/first')).toBe('allowed')
    const listeners = () => redis.client.pubsub('NUMSUB', `${prefix}policy`)
    await until(async () => (await listeners())[1] === 1)

    await store.publish(second, first.revision, 'push')

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

  test('says the name of the host first, which some services need to know', async () => {
    trust()
    const [cert, key] = [await readFile(certificates.certificate), await readFile(certificates.key)]
    const names: unknown[] = []
    const server = tls.createServer({ cert, key }, (socket) => {
      names.push(socket.servername)
      socket.destroy()
    })
    server.listen(0, 'localhost')
    await once(server, 'listening')
    onTestFinished(() => void server.close())

    await open(`rediss://localhost:${(server.address() as AddressInfo).port}`).catch(() => {})

    expect(names[0]).toBe('localhost')
  })
})
