import { readFile } from 'node:fs/promises'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { startWireServer } from '../support/wire-server.ts'

/*
 * The memory of a large answer is used for the next one as soon as it has left. Were that a moment
 * too soon, a client would be sent what was meant for another.
 */

const lanes = 16
const perLane = 15

/** One that is not read for a while, and larger than what the kernel takes off our hands. */
const isStuck = (number: number) => number % 48 === 7

const leaves = (number: number) => number % 5 === 4

/** Says of every piece whose it is, and where in the answer it stands. */
function bodyOf(number: number): Buffer {
  const length = isStuck(number) ? 14_000_000 : 20_000 + ((number * 7919) % 380_000)
  const body = Buffer.alloc(length, `${number}:`)
  for (let at = 0; at < length; at += 1000) body.writeUInt32BE(at, Math.min(at, length - 4))
  return body
}

type Write = (socket: Socket, body: Buffer) => void

const framings: Readonly<Record<string, Write>> = {
  'with a length'(socket, body) {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
  },
  'in chunks'(socket, body) {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let at = 0; at < body.length; at += 50_000) {
      const chunk = body.subarray(at, at + 50_000)
      socket.write(`${chunk.length.toString(16)}\r\n`)
      socket.write(chunk)
      socket.write('\r\n')
    }
    socket.write('0\r\n\r\n')
  },
  'until the connection ends'(socket, body) {
    socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
    socket.end(body)
  },
}

/** Reads all of it, slowly at times, or leaves in the middle; gives what came until then. */
async function read(answer: IncomingMessage, number: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  if (isStuck(number)) await pause(300)
  try {
    for await (const piece of answer) {
      // A copy: what the client does with its own memory is not looked at here.
      pieces.push(Buffer.from(piece as Buffer))
      length += (piece as Buffer).length
      if (number % 3 === 1 && pieces.length < 8) await pause(4)
      if (leaves(number) && length > 60_000) break
    }
  } catch {
    // Cut off: what came is compared all the same.
  }
  return Buffer.concat(pieces)
}

async function startWith(write: Write, secure: boolean) {
  const certificates = secure ? await createCertificates('localhost') : undefined
  if (certificates !== undefined) onTestFinished(certificates.remove)
  const upstream = await startWireServer(({ socket, head }) => {
    write(socket, bodyOf(Number(/public\/(\d+)/.exec(head)?.[1])))
  })
  const { publicPort } = await startPostern({
    config: {
      upstreams: { backend: { targets: [upstream.origin] } },
      ...(certificates !== undefined && {
        tls: { certFile: certificates.certificate, keyFile: certificates.key },
      }),
    },
  })
  const options = { keepAlive: true, maxSockets: lanes }
  const agent = secure ? new TlsAgent(options) : new PlainAgent(options)
  onTestFinished(() => agent.destroy())
  const ca = certificates && (await readFile(certificates.authority))

  return (number: number) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${tokenOf('editor')}` }
      const to = { host: 'localhost', family: 4, port: publicPort, agent, headers, ca }
      const sent = (secure ? tlsRequest : plainRequest)({
        ...to,
        path: `/api/v1/public/${number}`,
      })
      sent.on('response', resolve).on('error', reject).end()
    })
}

describe.each([
  ['in the clear', false],
  ['over TLS', true],
])('large answers to many at once, %s', (_, secure) => {
  test.each(Object.keys(framings))('reach whom they are for and nobody else: %s', async (name) => {
    const ask = await startWith(framings[name] as Write, secure)
    async function lane(first: number): Promise<void> {
      for (let turn = 0; turn < perLane; turn++) {
        const number = first * perLane + turn
        const got = await read(await ask(number), number)
        const meant = bodyOf(number)
        expect(got.equals(meant.subarray(0, got.length)), `answer ${number}`).toBe(true)
        if (!leaves(number)) expect(got.length, `answer ${number}`).toBe(meant.length)
      }
    }
    await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
  })
})
