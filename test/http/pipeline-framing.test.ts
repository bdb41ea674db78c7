import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openByteClient } from '../support/byte-client.ts'
import { startBoth } from '../support/pipeline-framing.ts'
import { cutAt, cuts, goodPipeline, pipeline } from '../support/pipelines.ts'
import { startPostern } from '../support/start-postern.ts'

/* What is sent ahead is read as Node alone would read it; test/long does more of the same. */

describe.each([
  ['with the plain request reader', true],
  ['with the parser of Node alone', false],
])('pipelined requests, %s,', (_, plainRequests) => {
  let both: Awaited<ReturnType<typeof startBoth>>
  beforeAll(async () => {
    both = await startBoth(plainRequests)
  })
  afterAll(() => both.close())

  test('are those that Node reads, whatever is wrong with some and wherever they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(pipeline, cuts, (bytes, places) =>
        both.compare(bytes, cutAt(bytes, places)),
      ),
      { numRuns: 120 },
    )
  })

  test('are the same when they are cut at any one byte', async () => {
    const inner = 'GET /evil HTTP/1.1\r\n\r\n'
    const bytes = Buffer.from(
      `POST /late/1 HTTP/1.1\r\nContent-Length: ${inner.length}\r\n\r\n${inner}` +
        `\r\nPUT /early/2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `4;a=b\r\n\r\n\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\nX-T: a\r\n\r\n` +
        'GET /slow/3 HTTP/1.1\r\n\r\nPOST /late/4 HTTP/1.0\r\nContent-Length: 1\r\n\r\na',
    )
    for (let at = 1; at < bytes.length; at++) {
      await both.compare(bytes, [bytes.subarray(0, at), bytes.subarray(at)])
    }
  })

  test('reach the service as they were sent, and nothing else does', async () => {
    const postern = await startPostern({
      config: { application: { plainRequests } },
      routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a test' }],
    })
    const { requests } = postern.upstream
    postern.upstream.answerWith((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    await fc.assert(
      fc.asyncProperty(goodPipeline, cuts, async (all, places) => {
        requests.length = 0
        const client = await openByteClient(postern.publicPort)
        const bytes = Buffer.from(all.map(({ text }) => text).join(''), 'latin1')
        for (const piece of cutAt(bytes, places)) {
          client.socket.write(piece)
          await nextTurn()
        }
        expect(await client.answers(all.length)).toHaveLength(all.length)
        client.socket.destroy()
        const seen = requests.map(({ method, target, body }) => [`${method} ${target}`, body])
        expect(seen).toEqual(all.map(({ line, body }) => [line, body]))
      }),
      { numRuns: 40 },
    )
  })
})
