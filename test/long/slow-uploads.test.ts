import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { parseAnswers, request } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
/** More than the buffers between a client and an upstream hold. */
const body = randomBytes(24 * 1_048_576)
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

interface Reader {
  readonly socket: Socket
  readonly chunks: Buffer[]
  text(): string
}

/** An upstream that reads what and when the test says, and times that are short for an answer. */
async function start(read: (reader: Reader) => unknown, settings: Record<string, number> = {}) {
  const server = createServer((socket) => {
    const chunks: Buffer[] = []
    socket.on('error', () => {})
    socket.on('data', (chunk) => chunks.push(chunk))
    void read({ socket, chunks, text: () => Buffer.concat(chunks).toString('latin1') })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return startPostern({
    config: {
      upstreams: {
        backend: { targets: [target], headersTimeoutMs: 400, bodyTimeoutMs: 10_000, ...settings },
      },
    },
  })
}

/** Sends it and returns the status of the answer. */
async function upload(port: number, bytes: Buffer): Promise<number | undefined> {
  const head = request('POST /api/v1/articles', [asEditor, `Content-Length: ${bytes.length}`])
  const client = await openClient(port, head)
  client.socket.write(bytes)
  await until(() => client.closed() || client.text().includes('\r\n\r\n'))
  return parseAnswers(Buffer.from(client.text(), 'latin1'))[0]?.status
}

async function answerWhenWhole({ socket, chunks }: Reader): Promise<string> {
  const whole = () => {
    const all = Buffer.concat(chunks)
    return all.subarray(all.indexOf('\r\n\r\n') + 4)
  }
  await until(() => chunks.reduce((sum, { length }) => sum + length, 0) >= body.length)
  await until(() => whole().length >= body.length)
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  return digestOf(whole())
}

describe('an upload', () => {
  test('may be taken slowly: the time for an answer begins when it has been sent', async () => {
    let got = ''
    const postern = await start(async (reader) => {
      reader.socket.pause()
      await pause(3000)
      reader.socket.resume()
      got = await answerWhenWhole(reader)
    })

    expect(await upload(postern.publicPort, body)).toBe(200)
    expect(got).toBe(digestOf(body))
  })

  test('may be sent slowly, too', async () => {
    const postern = await start(async ({ socket, text }) => {
      await until(() => text().endsWith('the end'))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const client = await openClient(
      postern.publicPort,
      request('POST /api/v1/articles', [asEditor, 'Content-Length: 19']),
    )

    for (const part of ['not so ', 'fast ', 'the end']) {
      await pause(part === 'fast ' ? 3000 : 10)
      client.socket.write(part)
    }

    await client.got('200 OK')
  })

  test('may be taken slowly after a hint, too', async () => {
    const postern = await start(async (reader) => {
      // Before a request, it would be data that nothing asked for.
      await until(() => reader.chunks.length > 0)
      reader.socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      reader.socket.pause()
      await pause(1500)
      reader.socket.resume()
      await answerWhenWhole(reader)
    })

    expect(await upload(postern.publicPort, body)).toBe(200)
  })

  test('that is sent has the time for an answer, and no more', async () => {
    const postern = await start(() => {}, { bodyTimeoutMs: 60_000 })

    expect(await upload(postern.publicPort, Buffer.alloc(1000))).toBe(504)
  })

  test('that is answered with hints and no more has that time, too', async () => {
    const postern = await start(
      ({ socket }) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 100)
        socket.on('close', () => clearInterval(timer))
      },
      { bodyTimeoutMs: 60_000 },
    )

    expect(await upload(postern.publicPort, Buffer.alloc(1000))).toBe(504)
  })

  test('that is not taken at all for too long ends', async () => {
    const postern = await start(({ socket }) => socket.pause(), { bodyTimeoutMs: 800 })

    expect(await upload(postern.publicPort, body)).toBe(504)
  })
})
