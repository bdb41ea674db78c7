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

/** Calls 50 times a second until `ms` have passed; the share that was answered by the service. */
async function shareServed(status: () => Promise<number>, ms: number): Promise<number> {
  const calls: Promise<number>[] = []
  const end = performance.now() + ms
  while (performance.now() < end) {
    calls.push(status())
    await pause(20)
  }
  const found = await Promise.all(calls)
  return found.filter((one) => one === 200).length / found.length
}

test('after an outage of 35 s, the only target of an upstream is used again at once', async () => {
  const { status, listen } = await start()
  expect(await shareServed(status, 35_000)).toBe(0)

  await listen()
  const since = performance.now()
  while ((await status()) !== 200) await pause(20)
  const tookMs = performance.now() - since
  console.log(`served ${Math.round(tookMs)} ms after the target was back`)

  // It used to take up to 30 s; a probe comes every 0.6 s at least.
  expect(tookMs).toBeLessThan(5000)
  expect(await shareServed(status, 2000)).toBe(1)
})

test('the only target of an upstream, up for 2 s of every 4, serves nearly half of the requests', async () => {
  const { status, listen, stop } = await start()
  let isOver = false
  const served = shareServed(status, 40_000).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await pause(2000)
    await listen()
    await pause(2000)
    await stop()
  }
  const share = await served
  console.log(`${Math.round(share * 100)} % served`)

  // It used to be 29 %.
  expect(share).toBeGreaterThan(0.38)
})
