import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Target } from '../../src/gateway/upstream/target.ts'
import { createUpstream, type UpstreamSettings } from '../../src/gateway/upstream/upstream.ts'
import { askTarget } from '../support/ask-target.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { until } from '../support/until.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** An upstream whose name leads where the test says, asked for every few milliseconds. */
async function start(first: readonly string[]) {
  const server = await startRecordingUpstream()
  onTestFinished(server.close)
  const name = { leadsTo: first, asked: 0 }
  const settings: UpstreamSettings = {
    targets: [`http://localhost:${server.port}`],
    host: 'target',
    keepAlive: true,
    requestBufferBytes: 65_536,
    maxShare: 50,
    balance: 'round-robin',
    connections: 4,
    tunnels: 4,
    connectTimeoutMs: 1000,
    queueTimeoutMs: 1000,
    headersTimeoutMs: 5000,
    bodyTimeoutMs: 5000,
    // Longer than the test: idle connections must be closed, not time out.
    idleTimeoutMs: 600_000,
    retries: 0,
    dnsSeconds: 0.005,
    breaker: { failures: 1 },
  }
  const resolve = async () => {
    name.asked++
    return name.leadsTo
  }
  const upstream = createUpstream('orders', settings, { resolve })
  onTestFinished(upstream.close)
  const settled = async () => {
    const { asked } = name
    await until(() => name.asked > asked + 1)
  }
  await settled()
  /** As after a change of another setting. */
  const reload = () => {
    const next = createUpstream(
      'orders',
      { ...settings, queueTimeoutMs: 2000 },
      { resolve, previous: upstream },
    )
    onTestFinished(next.close)
    upstream.retire()
    return next
  }
  return { server, upstream, name, settled, reload }
}

describe('a name that leads elsewhere', () => {
  test('to another single address, leaves no connection to the one before', async () => {
    const { server, upstream, name, settled } = await start(['127.0.0.1'])
    await askTarget(upstream.choose(false))
    expect(server.connections()).toBe(1)

    await settled()
    expect(server.connections()).toBe(1)
    name.leadsTo = ['127.0.0.2']
    await settled()

    await until(() => server.connections() === 0)
    expect(await askTarget(upstream.choose(false))).toBe(200)
  })

  test('lets what is under way finish where it began', async () => {
    const { server, upstream, name, settled } = await start(['127.0.0.1'])
    let answer = () => {}
    server.answerWith((socket) => {
      answer = () => socket.write(ok)
    })
    const waiting = askTarget(upstream.choose(false))
    await until(() => server.requests.length === 1)

    name.leadsTo = ['127.0.0.2', '127.0.0.3']
    await settled()
    answer()

    expect(await waiting).toBe(200)
    await until(() => server.connections() === 0)
  })

  test('keeps its addresses, connections and load over a reload', async () => {
    const { server, upstream, name, settled, reload } = await start(['127.0.0.1', '127.0.0.2'])
    const names = upstream.targets().map((target) => target.name)
    await askTarget(upstream.targets()[0] as Target)
    expect(server.connections()).toBe(1)

    const next = reload()
    expect(next.targets().map((target) => target.name)).toEqual(names)
    await settled()
    await askTarget(next.targets()[0] as Target)
    expect([server.connections(), server.requests.length]).toEqual([1, 2])
    name.leadsTo = ['127.0.0.2']
    await settled()
    await until(() => server.connections() === 0)
  })

  test('keeps a circuit over a reload, and not with another single address', async () => {
    const { server, upstream, name, settled, reload } = await start(['127.0.0.1'])
    const [target] = upstream.targets() as [Target]
    await server.close()
    await expect(askTarget(target)).rejects.toThrow('ECONNREFUSED')
    expect(target.breaker.state()).toBe('open')
    const next = reload()
    expect(next.targets()[0]?.breaker.state()).toBe('open')
    name.leadsTo = ['127.0.0.2']
    await settled()

    await until(() => next.targets()[0]?.breaker.state() === 'closed')
    expect(server.requests).toEqual([])
  })

  test('again and again, leaves nothing behind', async () => {
    const { upstream, name, settled } = await start(['127.0.0.1', '127.0.0.2'])
    const gone = upstream.targets().map((target) => new WeakRef(target))
    await askTarget(upstream.targets()[0] as Target)

    name.leadsTo = ['127.0.0.3', '127.0.0.4']
    await settled()

    await until(() => {
      collect()
      return gone.every((target) => target.deref() === undefined)
    })
  })
})
