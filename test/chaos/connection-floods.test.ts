import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/gateway-metrics.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { startKeepAliveNginx } from '../support/nginx.ts'
import { request } from '../support/raw-client.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const authorization = `Bearer ${tokenOf('admin')}`
const path = '/api/v1/articles'

interface Call {
  readonly ms: number
  /** The status, or what went wrong. */
  readonly outcome: number | string
}

async function call(port: number, agent: Agent | false, localAddress: string): Promise<Call> {
  const startedAt = performance.now()
  const outcome = await new Promise<number | string>((resolve) => {
    const headers = { authorization }
    get({ port, host: '127.0.0.1', path, agent, localAddress, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    }).on('error', ({ message }) => resolve(message))
  })
  return { ms: performance.now() - startedAt, outcome }
}

/** One good caller after the other, from another address than the crowd, until it is over. */
async function callUntil(port: number, agent: Agent | false, over: Promise<unknown>) {
  const calls: Call[] = []
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  while (!isOver) {
    calls.push(await call(port, agent, '127.0.0.2'))
    await pause(20)
  }
  return {
    failed: calls.filter(({ outcome }) => outcome !== 200),
    calls: calls.length,
    slowestMs: Math.round(Math.max(...calls.map(({ ms }) => ms))),
  }
}

function start(script: string, options: object) {
  const file = join(import.meta.dirname, '..', 'support', script)
  const args = [file, JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  return child
}

async function underFlood(port: number, count: number) {
  const bytes = request(`GET ${path}`, [`Authorization: ${authorization}`])
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  await call(port, kept, '127.0.0.2')
  const over = once(start('flood.mjs', { port, count, atATime: 5000, request: bytes }), 'exit')
  const [established, fresh] = await Promise.all([
    callUntil(port, kept, over),
    callUntil(port, false, over),
  ])
  kept.destroy()
  return { established, fresh }
}

async function startService(): Promise<string> {
  const server = createServer((_, reply) => void reply.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** How many client connections a gateway has accepted, and refused or kept. */
async function seenBy(opsPort: number): Promise<number> {
  const open = await metricOf(opsPort, 'postern_client_connections')
  const rejected = await metricOf(opsPort, 'postern_connections_rejected_total')
  const closed = await metricOf(opsPort, 'postern_connections_closed_total')
  return open + rejected + closed
}

describe('good callers', () => {
  test('are all answered while 20,000 clients connect, send and leave', async () => {
    const count = 20_000
    const service = await startService()
    const upstreams = { backend: { targets: [`http://${service}`] } }
    // As if they came from everywhere: one address alone would meet its own limit.
    const limits = { connectionsPerAddress: 1_000_000 }
    const { gateway } = await startLoneGateway({ upstreams, limits })
    const ours = await underFlood(gateway.publicPort, count)
    const run = await metricOf(gateway.opsPort, 'postern_outcomes_total')
    const theirs = await underFlood(await startKeepAliveNginx([service]), count)
    console.log(`under a flood: postern ${text(ours)}; nginx ${text(theirs)}`)

    const failed = [...ours.established.failed, ...ours.fresh.failed]
    // 503 is an answer: the flood delays the event loop, and then a few calls are shed.
    expect(failed.filter(({ outcome }) => outcome !== 503)).toEqual([])
    expect(failed.length).toBeLessThanOrEqual((ours.established.calls + ours.fresh.calls) / 10)
    expect(run).toBeLessThan(count / 2)
  })

  test.each([
    ['the same address', '127.0.0.1'],
    ['another address', '127.0.0.2'],
  ])('from %s are all answered beside 10,100 idle connections of one', async (_, from) => {
    const service = await startService()
    const { gateway } = await startLoneGateway({
      upstreams: { backend: { targets: [`http://${service}`] } },
    })
    const port = gateway.publicPort
    const idle = start('idle-connections.mjs', { port, count: 10_100 })
    await once(idle.stdout, 'data')
    await until(async () => (await seenBy(gateway.opsPort)) >= 10_100)
    // It spares each for half a second after it has come.
    await until(async () => (await call(port, false, from)).outcome === 200)

    const calls: Call[] = []
    for (let at = 0; at < 180; at++) calls.push(await call(port, false, from))

    expect(calls.filter(({ outcome }) => outcome !== 200)).toEqual([])
    const open = await metricOf(gateway.opsPort, 'postern_client_connections')
    expect(open).toBeLessThanOrEqual(1100)
  })
})

function text({ established, fresh }: Awaited<ReturnType<typeof underFlood>>): string {
  return `slowest ${established.slowestMs} ms on an established connection, ${fresh.slowestMs} ms on a new one, ${established.failed.length + fresh.failed.length} of ${established.calls + fresh.calls} failed`
}
