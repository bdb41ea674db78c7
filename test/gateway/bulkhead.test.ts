import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inParallel } from '../support/in-parallel.ts'
import { openClient } from '../support/open-client.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const path = '/api/v1/public/a'
const get = (...headers: string[]) => request(`GET ${path}`, [asEditor, ...headers])
const upgrade = get(
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)

async function startWith(settings: Readonly<Record<string, unknown>>) {
  const target = await startRecordingUpstream()
  onTestFinished(target.close)
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [target.origin], maxShare: 100, ...settings } } },
  })
  return { target, postern }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function heapMib(): Promise<number> {
  await pause(50)
  collect()
  return process.memoryUsage().heapUsed / 1_048_576
}

async function leaveAtOnce({ publicPort }: TestPostern, bytes: string): Promise<void> {
  const socket = connect(publicPort, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  await pause(20)
  socket.resetAndDestroy()
}

describe('an upstream that hangs', () => {
  test('is not handed more than it may have, also when clients come and leave', async () => {
    const { target, postern } = await startWith({ connections: 2, queueTimeoutMs: 60_000 })
    target.answerWith(() => {})
    for (let turn = 0; turn < 2; turn++) await openClient(postern.publicPort, get())
    await until(() => target.requests.length === 2)
    const padded = get(`X-Padding: ${'a'.repeat(12_000)}`)
    await inParallel(Array(20).fill(padded), (bytes) => leaveAtOnce(postern, bytes))
    const before = await heapMib()

    await inParallel(Array(800).fill(padded), (bytes) => leaveAtOnce(postern, bytes))

    // Kept, they would be 10 MiB and more.
    expect((await heapMib()) - before).toBeLessThan(5)
    expect(target.connections()).toBe(2)
  })

  test('answers again as soon as it can, whoever left meanwhile', async () => {
    const { target, postern } = await startWith({ connections: 2, queueTimeoutMs: 60_000 })
    const held: Socket[] = []
    target.answerWith((socket) => held.push(socket))
    for (let turn = 0; turn < 2; turn++) await openClient(postern.publicPort, get())
    await until(() => held.length === 2)
    for (let turn = 0; turn < 5; turn++) await leaveAtOnce(postern, get())
    await pause(50)
    target.answerWith((socket) => socket.write(ok))
    for (const socket of held) socket.write(ok)

    await until(async () => (await postern.call(`GET ${path}`, { as: 'editor' })).status === 200)
    expect(target.requests.length).toBe(3)
  })

  test('does not keep an upload that waits in vain, nor its client', async () => {
    const { target, postern } = await startWith({ connections: 1, queueTimeoutMs: 200 })
    target.answerWith(() => {})
    await openClient(postern.publicPort, get())
    await until(() => target.requests.length === 1)
    const body = 'a'.repeat(65_536)
    const headers = [asEditor, `Content-Length: ${body.length}`]
    const upload = request('POST /api/v1/articles', headers, body)

    const { answers } = await sendRaw(postern.publicPort, [upload, request('GET /')], {
      expected: 2,
      quietMs: 60_000,
    })

    expect(answers.map(({ status }) => status)).toEqual([503, 200])
    expect(answers[1]?.json()).toMatchObject({ code: 401 })
  })

  // T216
  test('has no more connections than it may, and what is too much is refused at once', async () => {
    const { target, postern } = await startWith({ connections: 3, queueTimeoutMs: 60_000 })
    target.answerWith(() => {})
    for (let turn = 0; turn < 6; turn++) await openClient(postern.publicPort, get())
    await until(() => target.requests.length === 3)

    const answer = await postern.call(`GET ${path}`, { as: 'editor' })

    expect([answer.status, target.connections(), target.requests.length]).toEqual([503, 3, 3])
  })
})

describe('open WebSockets', () => {
  async function openSockets(count: number, settings: Readonly<Record<string, unknown>>) {
    const { target, postern } = await startWith(settings)
    const opened: Socket[] = []
    const agree = echoing((socket) => opened.push(socket))
    target.answerWith((socket, sent) => {
      if (sent.values('upgrade').length > 0) agree(socket, sent)
      else socket.write(ok)
    })
    const clients = []
    for (let turn = 0; turn < count; turn++) {
      const client = await openClient(postern.publicPort, upgrade)
      await client.got('\r\n\r\n')
      clients.push(client)
    }
    const statuses = clients.map((client) => client.text().slice(9, 12))
    return { postern, opened, clients, statuses }
  }

  test('take nothing away from requests', async () => {
    const { postern, statuses } = await openSockets(5, { connections: 1 })

    const answer = await postern.call(`GET ${path}`, { as: 'editor' })

    expect([...statuses, answer.status]).toEqual(['101', '101', '101', '101', '101', 200])
  })

  test('have a bound of their own, and room again when one closes', async () => {
    const { postern, statuses, opened } = await openSockets(3, { connections: 1, tunnels: 2 })
    expect(statuses).toEqual(['101', '101', '503'])
    expect((await postern.call(`GET ${path}`, { as: 'editor' })).status).toBe(200)

    opened[0]?.destroy()

    await until(async () => {
      const client = await openClient(postern.publicPort, upgrade)
      await client.got('\r\n\r\n')
      return client.text().startsWith('HTTP/1.1 101')
    })
  })

  test('whose upstream is gone are gone, however much the client still sends', async () => {
    const { postern, target } = await startHalfOpen()
    const client = connect({ port: postern.publicPort, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void client.destroy())
    let closed = false
    client.on('error', () => {})
    client.on('close', () => {
      closed = true
    })
    client.resume()
    client.write(upgrade)
    await until(() => target.opened.length === 1)

    const sending = setInterval(() => client.write('x'), 20)
    onTestFinished(() => clearInterval(sending))
    target.opened[0]?.destroy()

    await until(() => closed)
  })

  async function startHalfOpen() {
    const postern = await startPostern({ config: { upgrades: { idleTimeoutMs: 1000 } } })
    const opened: Socket[] = []
    postern.upstream.answerWith(echoing((socket) => opened.push(socket)))
    return { postern, target: { opened } }
  }
})
