import { expect, test } from 'vitest'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

// docs/streaming.md says so.
test('early hints and reason phrases end here, and trailers pass', async () => {
  const postern = await startPostern({
    rules: [],
    routes: [{ path: '/', upstream: 'backend', access: 'public', reason: 'a front end' }],
  })
  postern.upstream.answerWith((socket) =>
    socket.write(
      [
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-User-Id: 1\r\n\r\n',
        'HTTP/1.1 200 Splendid\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n',
        '2\r\nok\r\n0\r\nX-Sum: 7\r\nX-User-Id: 1\r\n\r\n',
      ].join(''),
    ),
  )

  const { bytes, answers } = await sendRaw(
    postern.publicPort,
    request('GET /a', ['Connection: TE', 'TE: trailers']),
  )

  expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(answers[0]?.body).toBe('ok')
  expect(answers[0]?.trailers.map(String)).toEqual(['x-sum,7'])
})
