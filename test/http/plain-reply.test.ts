import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { PlainReply } from '../../src/http/plain/plain-reply.ts'
import { sendRaw } from '../support/raw-client.ts'

/** What a client gets when `answer` answers it. */
async function answered(answer: (reply: PlainReply) => void): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      answer(new PlainReply({ socket, keepAlive: 'timeout=65', answered() {} }, 'GET'))
    })
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { bytes } = await sendRaw((server.address() as AddressInfo).port, 'x')
  return bytes.toString('latin1')
}

test('an answer whose head could not be written can still be another one', async () => {
  const text = await answered((reply) => {
    expect(() => reply.writeHead(403, ['X-A', '\u0416', 'Content-Length', '2'])).toThrow()
    expect(reply.headersSent).toBe(false)
    reply.writeHead(502, ['Content-Type', 'application/json', 'Content-Length', '2'])
    expect(reply.headersSent).toBe(true)
    reply.end('{}', 'utf8')
  })

  expect(text).toMatch(/^HTTP\/1\.1 502 [^\r]*\r\nContent-Type: application\/json\r\n/)
  expect(text).toMatch(/\r\n\r\n\{\}$/)
})

test('a header that is none is refused when it is set', async () => {
  const text = await answered((reply) => {
    expect(() => reply.setHeader('Vary', 'a\r\nX-B: b')).toThrow()
    reply.writeHead(200, ['Content-Length', '2'])
    reply.end('ok', 'latin1')
  })

  expect(text).not.toContain('X-B')
})

test('a body that is not the announced one is left to Node', async () => {
  const text = await answered((reply) => {
    reply.writeHead(200, ['Content-Length', '3'])
    reply.end('\u00e9a', 'utf8')
  })

  expect(text).toMatch(/\r\nContent-Length: 3\r\n/)
  expect(Buffer.from(text, 'latin1').toString('utf8')).toMatch(/\r\n\r\n\u00e9a$/)
})
