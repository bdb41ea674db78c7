import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Target } from '../../src/gateway/upstream/target.ts'
import { createUpstream } from '../../src/gateway/upstream/upstream.ts'
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
  const upstream = createUpstream(
    'orders',
    {
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
      retries: 0,
      dnsSeconds: 0.005,
      breaker: { failures: 1, openMs: 1, maxOpenMs: 1 },
    },
    {
      async resolve() {
        name.asked++
        return name.leadsTo
      },
    },
  )
  onTestFinished(upstream.close)
  const settled = async () => {
    const { asked } = name
    await until(() => name.asked > asked + 1)
  }
  await settled()
  return { server, upstream, name, settled }
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
