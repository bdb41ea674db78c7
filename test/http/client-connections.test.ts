import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ConnectionLimits,
  createClientConnections,
} from '../../src/http/connections/client-connections.ts'
import { type ByteClient, openByteClient } from '../support/byte-client.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { metricOf } from '../support/gateway-metrics.ts'
import { request } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = request('GET /api/v1/public/a', [`Authorization: Bearer ${tokenOf('editor')}`])
/** Longer than a new connection is spared. */
const sparedMs = 700

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

const closed = ({ opsPort }: TestPostern, reason: string) =>
  metricOf(opsPort, `postern_connections_closed_total{reason="${reason}"}`)
const rejected = ({ opsPort }: TestPostern, reason: string) =>
  metricOf(opsPort, `postern_connections_rejected_total{reason="${reason}"}`)
const openNow = ({ opsPort }: TestPostern, state: string) =>
  metricOf(opsPort, `postern_client_connections{state="${state}"}`)

describe.each([
  ['in the clear', false],
  ['over TLS', true],
])('connections %s', (_, encrypted) => {
  const tls = () => (encrypted ? certificates : undefined)

  function start(limits: object, application: object = {}): Promise<TestPostern> {
    const files = { certFile: certificates.certificate, keyFile: certificates.key }
    return startPostern({
      config: {
        limits,
        application: { ...application },
        ...(encrypted && { tls: files }),
      } as never,
    })
  }
  const open = ({ publicPort }: TestPostern, from?: string) =>
    openByteClient(publicPort, { tls: tls(), ...(from !== undefined && { from }) })

  async function openSeveral(postern: TestPostern, count: number, from?: string) {
    const all: ByteClient[] = []
    for (let at = 0; at < count; at++) all.push(await open(postern, from))
    return all
  }

  test('of one address beyond its limit push out its longest idle one, and no other', async () => {
    const postern = await start({ connectionsPerAddress: 3 })
    const other = await open(postern, '127.0.0.3')
    const [first, second, third] = await openSeveral(postern, 3, '127.0.0.2')
    // Asked last, so it is not the one that has been idle longest.
    await pause(sparedMs)
    first?.send(get)
    await first?.answers(1)

    const fourth = await open(postern, '127.0.0.2')
    fourth.send(get)

    expect(await fourth.answers(1)).toHaveLength(1)
    await until(() => second?.closed() === true)
    expect([other, first, third, fourth].map((client) => client?.closed())).toEqual(
      Array(4).fill(false),
    )
    expect(await closed(postern, 'address')).toBe(1)
    expect(await rejected(postern, 'address')).toBe(0)
  })

  test('of one address are refused beyond its limit while all have a request', async () => {
    const postern = await start({ connectionsPerAddress: 2 })
    postern.upstream.answerWith(() => {})
    const busy = await openSeveral(postern, 2, '127.0.0.2')
    for (const client of busy) client.send(get)
    await until(() => postern.upstream.requests.length === 2)
    await pause(sparedMs)

    const refused = await open(postern, '127.0.0.2')
    await until(refused.closed)
    postern.upstream.answerWith((socket) => socket.write(ok))
    const other = await open(postern, '127.0.0.3')
    other.send(get)

    expect(await other.answers(1)).toHaveLength(1)
    expect(busy.map((client) => client.closed())).toEqual([false, false])
    expect(await rejected(postern, 'address')).toBe(1)
    expect(postern.logText()).toMatch(
      /"level":"warn".*"reason":"address","client":"127\.0\.0\.2","msg":"connection rejected"/,
    )
    expect([await openNow(postern, 'active'), await openNow(postern, 'idle')]).toEqual([2, 1])
  })

  test('of a trusted proxy have no limit of their own', async () => {
    const postern = await start(
      { connectionsPerAddress: 2 },
      { host: '127.0.0.1', port: 0, trustedProxies: ['127.0.0.2'] },
    )
    const proxy = await openSeveral(postern, 6, '127.0.0.2')
    for (const client of proxy) client.send(get)

    for (const client of proxy) expect(await client.answers(1)).toHaveLength(1)
    expect(await closed(postern, 'address')).toBe(0)
  })

  test('beyond the limit of all push out the longest idle one, whoever has it', async () => {
    const postern = await start({ connections: 4 })
    const silent = await open(postern, '127.0.0.2')
    const half = await open(postern, '127.0.0.3')
    half.send('GET /half HTTP/1.1\r\nHost: ')
    const kept = await openSeveral(postern, 2, '127.0.0.4')
    await pause(sparedMs)
    for (const client of kept) client.send(get)
    for (const client of kept) await client.answers(1)

    const late = await openSeveral(postern, 2, '127.0.0.5')
    for (const client of late) client.send(get)

    for (const client of late) expect(await client.answers(1)).toHaveLength(1)
    await until(() => silent.closed() && half.closed())
    expect(kept.map((client) => client.closed())).toEqual([false, false])
    expect(await closed(postern, 'connections')).toBe(2)
    expect([await openNow(postern, 'active'), await openNow(postern, 'idle')]).toEqual([0, 4])
  })
})

/** As much of a socket as decides whether it may stay. */
class Arrived extends EventEmitter {
  destroyed = false
  readonly remotePort = 1
  readonly localAddress = '::1'
  readonly remoteAddress: string
  readonly _handle: { readonly fd: number }

  constructor(remoteAddress: string, fd = 20) {
    super()
    this.remoteAddress = remoteAddress
    this._handle = { fd }
  }
  destroy(): void {
    this.destroyed = true
  }
}

function admitting(limits: ConnectionLimits) {
  const events: string[] = []
  const connections = createClientConnections(limits, {
    rejected: (bound, client) => void events.push(`rejected ${bound} ${client}`),
    closed: (bound, client) => void events.push(`closed ${bound} ${client}`),
  })
  const admit = (address: string, fd?: number) =>
    connections.admit(new Arrived(address, fd) as unknown as Socket)
  return { admit, events }
}

describe('a new connection', () => {
  test('does not push out one that has just come', () => {
    const { admit, events } = admitting({ most: 2 })

    expect([admit('10.0.0.1'), admit('10.0.0.2'), admit('10.0.0.3')]).toEqual([true, true, false])
    expect(events).toEqual(['rejected connections 10.0.0.3'])
  })

  test('shares its limit with all of its IPv6 network, and with its IPv4 address in IPv6 form', () => {
    const { admit } = admitting({ most: 100, perAddress: 2 })

    expect(
      ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map((it) => admit(it)),
    ).toEqual([true, true, false, true])
    expect(['10.0.0.1', '::ffff:10.0.0.1', '::ffff:10.0.0.1'].map((it) => admit(it))).toEqual([
      true,
      true,
      false,
    ])
  })

  test('is refused on a descriptor that is reserved', () => {
    const { admit, events } = admitting({ most: 100, descriptors: 50 })

    expect([admit('10.0.0.1', 49), admit('10.0.0.1', 50)]).toEqual([true, false])
    expect(events).toEqual(['rejected descriptors 10.0.0.1'])
  })
})
