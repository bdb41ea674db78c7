import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { parseAnswers, request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const authorization = `Authorization: Bearer ${tokenOf('admin')}`
const get = request('GET /slow', [authorization])

/** A connection to the gateway, with everything that came on it so far. */
async function open(gateway: GatewayProcess) {
  const socket: Socket = connect({ port: gateway.publicPort, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let text = ''
  let closed = false
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('close', () => {
    closed = true
  })
  await once(socket, 'connect')
  return {
    write: (bytes: string) => void socket.write(bytes),
    text: () => text,
    answers: () => parseAnswers(Buffer.from(text, 'latin1')),
    isClosed: () => closed,
  }
}

const closing = (gateway: GatewayProcess) =>
  until(() => gateway.log.some(({ msg }) => msg === 'shutting down'))

async function refusesConnections(gateway: GatewayProcess): Promise<boolean> {
  const socket = connect({ port: gateway.publicPort, host: '127.0.0.1' })
  const connected = once(socket, 'connect').then(() => false)
  return connected.catch(() => true).finally(() => socket.destroy())
}

describe('a gateway that is told to end', () => {
  test('says so, finishes what is in flight, and ends with exit code 0', async () => {
    const { gateway, upstream } = await startLoneGateway({
      shutdown: { graceMs: 1500, idleMs: 0, deadlineMs: 15_000 },
    })
    upstream.answerWith((socket) => void setTimeout(() => socket.write(ok), 2000))
    const inFlight = sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
    await until(() => upstream.requests.length === 1)

    gateway.signal('SIGTERM')
    await closing(gateway)
    const ready = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)
    upstream.answerWith((socket) => socket.write(ok))
    const late = await sendRaw(gateway.publicPort, get)

    expect(ready.status).toBe(503)
    const last = [[200, 'close']]
    expect(late.answers.map((each) => [each.status, each.header('connection')])).toEqual(last)
    const { answers } = await inFlight
    expect(answers.map((each) => [each.status, each.header('connection')])).toEqual(last)
    expect(await gateway.exit).toBe(0)
  })

  test('closes idle connections after the grace, and lets requests that have begun to come finish', async () => {
    const { gateway, upstream } = await startLoneGateway({
      shutdown: { graceMs: 100, idleMs: 100, deadlineMs: 15_000 },
    })
    const [idle, silent, halfway, expecting] = await Promise.all([
      open(gateway),
      open(gateway),
      open(gateway),
      open(gateway),
    ])
    idle.write(get)
    await until(() => idle.answers().length === 1)
    halfway.write(get.slice(0, 40))
    expecting.write(
      request('POST /upload', [authorization, 'Content-Length: 4', 'Expect: 100-continue']),
    )
    await until(() => expecting.text().includes('100 Continue'))

    gateway.signal('SIGTERM')
    await until(() => idle.isClosed() && silent.isClosed())
    halfway.write(get.slice(40))
    expecting.write('body')

    await until(() => halfway.isClosed() && expecting.isClosed())
    expect(halfway.answers().map(({ status }) => status)).toEqual([200])
    expect(expecting.answers().map(({ status }) => status)).toEqual([200])
    expect(idle.answers()[0]?.header('connection')).toBe('keep-alive')
    expect(await gateway.exit).toBe(0)
    expect(upstream.requests.map(({ body }) => body)).toContain('body')
  })

  test('still answers one more request on a connection that was idle at the end of the grace', async () => {
    const { gateway } = await startLoneGateway({
      shutdown: { graceMs: 0, idleMs: 10_000, deadlineMs: 60_000 },
    })
    const idle = await open(gateway)
    idle.write(get)
    await until(() => idle.answers().length === 1)

    gateway.signal('SIGTERM')
    await until(() => refusesConnections(gateway))
    idle.write(get)

    // Long before the ten seconds are over: nothing is left to wait for.
    await until(idle.isClosed)
    expect(idle.answers().map((each) => each.header('connection'))).toEqual(['keep-alive', 'close'])
    expect(await gateway.exit).toBe(0)
  })

  // T231
  test('ends by its deadline with exit code 0 although a download, a tunnel and an upstream do not', async () => {
    const { gateway, upstream } = await startLoneGateway({
      shutdown: { graceMs: 0, deadlineMs: 2000 },
    })
    upstream.answerWith((socket, { target }) => {
      if (target === '/tunnel') {
        socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      }
      if (target === '/download') {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbeginning')
      }
    })
    const [hung, download, tunnel] = await Promise.all([
      open(gateway),
      open(gateway),
      open(gateway),
    ])
    hung.write(get)
    download.write(request('GET /download', [authorization]))
    tunnel.write(
      request('GET /tunnel', [authorization, 'Connection: Upgrade', 'Upgrade: websocket']),
    )
    await until(() => download.text().includes('beginning') && tunnel.text().includes(' 101 '))
    await until(() => upstream.requests.length === 3)

    gateway.signal('SIGTERM')

    // At the deadline it would be 1.
    expect(await gateway.exit).toBe(0)
    // A close frame with the code 1001: going away.
    expect(tunnel.text().endsWith('\x88\x02\x03\xe9')).toBe(true)
    await until(() => hung.isClosed() && download.isClosed())
    expect(hung.answers()).toEqual([])
    expect(gateway.log).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        connections: 2,
        msg: expect.stringMatching(/^connections closed/),
      }),
    )
  })

  test('cuts what is open when it is told a second time, and then ends with 1', async () => {
    const { gateway, upstream } = await startLoneGateway({
      shutdown: { graceMs: 60_000, deadlineMs: 120_000 },
    })
    upstream.answerWith(() => {})
    const hung = sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
    await until(() => upstream.requests.length === 1)

    gateway.signal('SIGINT')
    await closing(gateway)
    // What a terminal and the program that runs us send for one and the same wish.
    gateway.signal('SIGTERM')
    await pause(1100)
    const ready = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)
    gateway.signal('SIGINT')

    expect(ready.status).toBe(503)
    expect((await hung).closed).toBe(true)
    expect(await gateway.exit).toBe(1)
  })

  test('by SIGHUP without a terminal goes on, and reloads the configuration', async () => {
    const { gateway } = await startLoneGateway({ shutdown: { graceMs: 0 } })

    gateway.signal('SIGHUP')
    await until(() => gateway.log.some(({ msg }) => msg === 'configuration reloaded'))

    const ready = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)
    expect(ready.status).toBe(200)
    gateway.signal('SIGTERM')
    expect(await gateway.exit).toBe(0)
  })
})
