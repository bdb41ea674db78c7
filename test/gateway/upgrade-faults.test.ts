import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const upgrade = request('GET /api/v1/public/socket', [
  asEditor,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
])

/** A gateway whose upstream leaves an upgrade to the test. */
async function startPending(deadlineMs = 2000) {
  const postern = await startPostern({ config: { shutdown: { graceMs: 0, deadlineMs } } })
  const seen: { socket?: Socket; closed?: true; agree?: () => void } = {}
  postern.upstream.answerWith((socket, sent) => {
    seen.socket = socket
    seen.agree = () => echoing()(socket, sent)
    socket.on('close', () => {
      seen.closed = true
    })
  })
  const client = await openClient(postern.publicPort, upgrade)
  await until(() => seen.socket !== undefined)
  return { postern, seen, client }
}

describe('an upgrade that the upstream answers', () => {
  test.each([
    ['with another protocol', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'],
    ['with a list of protocols', 'Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n'],
    ['with two protocols', 'Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n'],
    ['with no protocol', 'Connection: Upgrade\r\n'],
    ['with nothing but 101', ''],
  ])('%s is no agreement: 502, and nothing goes through', async (_, headers) => {
    const postern = await startPostern()
    let closed = false
    postern.upstream.answerWith((socket) => {
      socket.on('close', () => {
        closed = true
      })
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\nPRI * HTTP/2.0\r\n\r\n`)
    })

    const { answers, bytes } = await sendRaw(postern.publicPort, upgrade, { quietMs: 60_000 })

    expect(answers.map(({ status }) => status)).toEqual([502])
    expect(bytes.toString('latin1')).not.toMatch(/HTTP\/1\.1 101|PRI/)
    await until(() => closed)
  })

  test('with a long answer instead reaches a client that reads late', async () => {
    const postern = await startPostern({ config: { limits: { stallTimeoutMs: 3000 } } })
    // More than the kernel takes off our hands.
    const body = Buffer.alloc(14_000_000, 'no tunnel here. ')
    postern.upstream.answerWith((socket) => {
      socket.write(`HTTP/1.1 426 Upgrade Required\r\nContent-Length: ${body.length}\r\n\r\n`)
      socket.write(body)
    })
    const client = connect(postern.publicPort, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    client.write(upgrade)
    await pause(200)

    const read = Buffer.concat(await client.toArray())

    expect(read.subarray(read.indexOf('\r\n\r\n') + 4).equals(body)).toBe(true)
  })

  test('in another spelling is agreed to, and what came with the 101 arrives', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => {
      socket.write('HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: WebSocket\r\n\r\nraw bytes')
    })

    const { bytes } = await sendRaw(postern.publicPort, upgrade, { quietMs: 300 })

    expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\nraw bytes$/s)
  })
})

describe('an upgrade that still waits for its answer', () => {
  test.each<[string, (socket: Socket) => unknown]>([
    ['closes its connection', (socket) => socket.end()],
    ['resets it', (socket) => socket.resetAndDestroy()],
  ])('ends at the upstream when its client %s', async (_, leave) => {
    const { seen, client, postern } = await startPending()

    leave(client.socket)

    await until(() => seen.closed === true)
    await until(() => postern.logText().includes('"outcome":"cut-by-client"'))
  })

  test('loses nothing of what the client sent meanwhile, and holds it back beyond a bound', async () => {
    const { seen, client } = await startPending()
    const sent = Buffer.alloc(8_000_000, 'a')
    let flushed = false
    client.socket.write(sent, () => {
      flushed = true
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(flushed).toBe(false)

    let got = 0
    seen.socket?.removeAllListeners('data')
    seen.socket?.on('data', (chunk: Buffer) => {
      got += chunk.length
    })
    seen.socket?.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )

    await until(() => got === sent.length)
  })

  test('has its answer although the gateway is going away', async () => {
    const { postern, seen, client } = await startPending(10_000)

    const ended = postern.close()
    await new Promise((resolve) => setTimeout(resolve, 100))
    seen.socket?.write(ok)
    await ended
    await until(client.closed)

    expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK.*\{"ok":true\}$/s)
  })

  test('and is agreed to while the gateway is going away is closed with 1001', async () => {
    const { postern, seen, client } = await startPending(10_000)

    const ended = postern.close()
    await new Promise((resolve) => setTimeout(resolve, 100))
    seen.agree?.()
    await ended

    expect(client.text()).toMatch(/^HTTP\/1\.1 101 /)
    expect(client.text().endsWith('\x88\x02\x03\xe9')).toBe(true)
  })

  test('does not keep the gateway beyond its deadline', async () => {
    const { postern, seen, client } = await startPending(300)

    await postern.close()

    await until(() => client.closed() && seen.closed === true)
  })
})

test('a gateway that goes away does not wait for a client that keeps its tunnel open', async () => {
  const { postern, seen } = await startPending()
  const deaf = connect({ port: postern.publicPort, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void deaf.destroy())
  deaf.on('error', () => {})
  deaf.write(upgrade)
  await until(() => postern.upstream.requests.length === 2)
  seen.agree?.()

  await postern.close()
})
