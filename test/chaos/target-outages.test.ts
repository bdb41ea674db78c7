import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { freePort } from '../support/redis-server.ts'
import { tokenOf } from '../support/tokens.ts'

const headers = { Authorization: `Bearer ${tokenOf('admin')}` }

/** A gateway whose only target listens, and stops listening. */
async function start() {
  const port = await freePort()
  const server = createServer((_, reply) => reply.end('ok'))
  const stop = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  onTestFinished(stop)
  const { gateway } = await startLoneGateway({
    upstreams: { backend: { targets: [`http://127.0.0.1:${port}`] } },
  })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const status = () =>
    new Promise<number>((resolve, reject) => {
      const call = { port: gateway.publicPort, host: '127.0.0.1', path: '/a', headers, agent }
      get(call, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      }).on('error', reject)
    })
  return {
    status,
    stop,
    async listen() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}

interface Called {
  readonly status: number
  readonly tookMs: number
}

/** Calls 50 times a second until `ms` have passed. */
async function callFor(status: () => Promise<number>, ms: number): Promise<readonly Called[]> {
  const calls: Promise<Called>[] = []
  const end = performance.now() + ms
  while (performance.now() < end) {
    const since = performance.now()
    calls.push(
      status().then((found) => ({ status: found, tookMs: Math.round(performance.now() - since) })),
    )
    await pause(20)
  }
  return Promise.all(calls)
}

/** The share that was answered by the service. */
function shareServed(calls: readonly Called[]): number {
  return calls.filter(({ status }) => status === 200).length / calls.length
}

test('while the only target of an upstream is unreachable, requests are refused within a second, and served within a second of its return', async () => {
  const { status, listen, stop } = await start()
  await listen()
  expect(shareServed(await callFor(status, 500))).toBe(1)

  await stop()
  // Much longer than the longest interval between two probes, half a second.
  const refused = await callFor(status, 10_000)
  const slowest = Math.max(...refused.map(({ tookMs }) => tookMs))
  expect(shareServed(refused)).toBe(0)
  expect(slowest).toBeLessThan(1000)

  await listen()
  const since = performance.now()
  while ((await status()) !== 200) await pause(20)
  const tookMs = Math.round(performance.now() - since)
  console.log(`refused within ${slowest} ms, served ${tookMs} ms after the target was back`)
  expect(tookMs).toBeLessThan(1000)
  expect(shareServed(await callFor(status, 1000))).toBe(1)
})

test('the only target of an upstream, up for 2 s of every 4, serves nearly half of the requests', async () => {
  const { status, listen, stop } = await start()
  let isOver = false
  const calls = callFor(status, 20_000).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await pause(2000)
    await listen()
    await pause(2000)
    await stop()
  }
  const share = shareServed(await calls)
  console.log(`${Math.round(share * 100)} % served`)

  // It used to be 29 %.
  expect(share).toBeGreaterThan(0.38)
})
