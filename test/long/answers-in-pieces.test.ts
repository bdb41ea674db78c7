import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const get = (...headers: string[]) => request('GET /api/v1/public/a', [asEditor, ...headers])

/** One connection to the upstream: what one answer leaves behind would be the next one's. */
async function startNarrow() {
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [upstream.origin], connections: 1 } } },
  })
  return { postern, upstream }
}

async function writePieces(socket: Socket, bytes: string, size: number): Promise<void> {
  socket.setNoDelay(true)
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.slice(at, at + size), 'latin1')
    await turn()
  }
}

const answers: readonly [string, string, string][] = [
  [
    'with a length',
    'HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 11\r\n\r\nhello world',
    'hello world',
  ],
  [
    'in chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a="b"\r\n world\r\n0\r\n\r\n',
    'hello world',
  ],
  [
    'in chunks with trailers',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nTrailer: X-A\r\n\r\n00b\r\nhello world\r\n000\r\nX-A: b\r\n\r\n',
    'hello world',
  ],
  [
    'behind interim ones',
    `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${ok}`,
    '{"ok":true}',
  ],
  ['without a body', 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n', ''],
  ['without a reason', 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok', 'ok'],
]

describe('an answer that comes in pieces', () => {
  test.each(answers)('is the same answer, wherever it is cut: %s', async (_, bytes, body) => {
    const { postern, upstream } = await startNarrow()
    const sizes = [1, 2, 3, 5, 7, 11, 17, 64]

    for (const size of sizes) {
      upstream.answerWith((socket) => void writePieces(socket, bytes, size))
      const { answers: got } = await sendRaw(postern.publicPort, get(), { quietMs: 60_000 })
      expect(got.map((answer) => answer.body)).toEqual([body])
    }

    // Each on the connection of the one before.
    expect(upstream.requests).toHaveLength(sizes.length)
    expect(upstream.connections()).toBe(1)
  })

  test.each(answers)(
    'and is cut in two at any byte ends at its own end: %s',
    async (_, bytes, body) => {
      const { postern, upstream } = await startNarrow()

      for (let at = 1; at < bytes.length; at += 3) {
        upstream.answerWith((socket) => {
          socket.write(bytes.slice(0, at), 'latin1')
          void turn().then(() => socket.write(bytes.slice(at), 'latin1'))
        })
        const { answers: got } = await sendRaw(postern.publicPort, get(), { quietMs: 60_000 })
        expect(got.map((answer) => answer.body)).toEqual([body])
      }
    },
  )
})
