import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { corpusText } from '../support/corpora.ts'
import { inParallel } from '../support/in-parallel.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const authorization = `Authorization: Bearer ${tokenOf('editor')}`

/** A POST that an editor may make, with these framing headers and these bytes behind the head. */
function post(headers: readonly string[], body = ''): string {
  return request('POST /api/v1/articles', [authorization, ...headers], body)
}

const hidden = 'GET /api/v1/sys-user HTTP/1.1\r\nHost: gateway.test\r\n\r\n'

describe('a message whose end can be read in two ways', () => {
  test.each<[string, string]>([
    // T071
    [
      'both framings, length first',
      post(['Content-Length: 6', 'Transfer-Encoding: chunked'], '0\r\n\r\nG'),
    ],
    [
      'both framings, coding first',
      post(['Transfer-Encoding: chunked', 'Content-Length: 3'], '5\r\nabcde\r\n0\r\n\r\n'),
    ],
    // T072
    ['two lengths', post(['Content-Length: 5', 'Content-Length: 6'], 'abcdef')],
    ['two equal lengths', post(['Content-Length: 5', 'Content-Length: 5'], 'abcde')],
    ['a list of lengths', post(['Content-Length: 5, 5'], 'abcde')],
    ['a signed length', post(['Content-Length: +5'], 'abcde')],
    ['a hexadecimal length', post(['Content-Length: 0x5'], 'abcde')],
    ['an empty length', post(['Content-Length:'], 'abcde')],
    ['a tab within a length', post(['Content-Length: 5\t5'], 'abcde')],
    ['a negative length', post(['Content-Length: -1'], 'abcde')],
    ['a length with a space inside', post(['Content-Length: 5 0'], 'abcde')],
    // T074, T075
    ['an unknown coding', post(['Transfer-Encoding: xchunked'], '0\r\n\r\n')],
    ['chunked, then identity', post(['Transfer-Encoding: chunked, identity'], '0\r\n\r\n')],
    ['identity', post(['Transfer-Encoding: identity'], '')],
    ['an empty coding', post(['Transfer-Encoding:'], '')],
    ['gzip before chunked', post(['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
    [
      'chunked twice',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    ['a form feed before chunked', post(['Transfer-Encoding: \fchunked'], '0\r\n\r\n')],
    ['a vertical tab before chunked', post(['Transfer-Encoding: \vchunked'], '0\r\n\r\n')],
    // T076
    ['a bare LF', `POST /api/v1/articles HTTP/1.1\nHost: gateway.test\n${authorization}\n\n`],
    ['a bare CR in a value', post(['X-A: a\rX-B: b'])],
    ['a folded header', post(['X-A: a', ' b'])],
    ['NUL in a value', post(['X-A: a\0b'])],
    ['a space before the colon', post(['Content-Length : 0'])],
    ['a header without a name', post([': a'])],
    // T078, T079
    ['a chunk size with 0x', post(['Transfer-Encoding: chunked'], '0x5\r\nabcde\r\n0\r\n\r\n')],
    [
      'a chunk size beyond 64 bits',
      post(['Transfer-Encoding: chunked'], '10000000000000000\r\nabcde\r\n0\r\n\r\n'),
    ],
    ['a negative chunk size', post(['Transfer-Encoding: chunked'], '-5\r\nabcde\r\n0\r\n\r\n')],
    [
      'an underscore in a chunk size',
      post(['Transfer-Encoding: chunked'], '1_0\r\nabcde\r\n0\r\n\r\n'),
    ],
    [
      'a chunk longer than it says',
      post(['Transfer-Encoding: chunked'], '3\r\nabcdef\r\n0\r\n\r\n'),
    ],
    [
      'a bare LF after a chunk extension',
      post(['Transfer-Encoding: chunked'], '5;\nxx\r\nabcde\r\n0\r\n\r\n'),
    ],
    ['a bare LF after a size', post(['Transfer-Encoding: chunked'], '5 \nabcde\r\n0\r\n\r\n')],
    [
      'garbage for a last chunk',
      post(['Transfer-Encoding: chunked'], '5\r\nabcde\r\n0\r\nx y\r\n\r\n'),
    ],
    // T080, T081, T090
    ['the opening of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [
      'chunked in HTTP/1.0',
      post(['Transfer-Encoding: chunked'], '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    ],
    ['HTTP/0.9', 'GET /api/v1/public/a\r\n\r\n'],
    ['HTTP/1.2', post([]).replace('HTTP/1.1', 'HTTP/1.2')],
    ['HTTP/2.0 in a request line', post([]).replace('HTTP/1.1', 'HTTP/2.0')],
    ['a space behind the version', post([]).replace('HTTP/1.1', 'HTTP/1.1 ')],
    ['a lower-case version', post([]).replace('HTTP/1.1', 'http/1.1')],
    ['no Host', 'GET /api/v1/public/a HTTP/1.1\r\n\r\n'],
    ['an unknown expectation', post(['Expect: 200-ok', 'Content-Length: 0'])],
  ])('is refused and the connection ends: %s', async (_, bytes) => {
    const postern = await startPostern()

    const { answers, closed } = await sendRaw(postern.publicPort, bytes, {
      expected: 2,
      quietMs: 300,
    })

    expect(answers.length).toBeLessThanOrEqual(1)
    expect(answers.every(({ status }) => status >= 400 && status < 506 && status !== 500)).toBe(
      true,
    )
    expect(closed).toBe(true)
    expect(postern.upstream.requests).toEqual([])
    expect((await postern.call('GET /api/v1/public/a', { as: 'editor' })).status).toBe(200)
  })

  test('a chunk extension of 17 KiB is refused', async () => {
    const postern = await startPostern()
    const bytes = post(['Transfer-Encoding: chunked'], `1;${'a'.repeat(17_408)}\r\nx\r\n0\r\n\r\n`)

    const { answers, closed } = await sendRaw(postern.publicPort, bytes)

    expect([answers.map(({ status }) => status), closed]).toEqual([[413], true])
    expect(postern.upstream.requests).toEqual([])
  })

  test('a body that breaks in the middle never looks complete to the upstream', async () => {
    const postern = await startPostern()

    await sendRaw(
      postern.publicPort,
      post(['Transfer-Encoding: chunked'], '5\r\nabcde\r\n0\r\nGARBAGE'),
      {
        firstByteMs: 300,
      },
    )

    expect(postern.upstream.requests).toEqual([])
  })
})

// T075, T072: read in one way only, and sent on in one way only.
describe('a framing header in an odd spelling', () => {
  test.each([
    ['a tab before chunked', 'Transfer-encoding:\tchunked', '5\r\nabcde\r\n0\r\n\r\n'],
    ['capitals', 'TRANSFER-ENCODING: Chunked', '5\r\nabcde\r\n0\r\n\r\n'],
    ['a tab behind a length', 'Content-Length: 5\t', 'abcde'],
    ['zeros before a length', 'Content-Length: 0005', 'abcde'],
  ])('is refused, or sent on as one plain framing: %s', async (_, header, body) => {
    const postern = await startPostern()

    const { answers } = await sendRaw(postern.publicPort, post([header], body))

    const sent = postern.upstream.requests.map((one) => [
      one.body,
      one.values('content-length').length + one.values('transfer-encoding').length,
    ])
    expect([[], [['abcde', 1]]]).toContainEqual(sent)
    expect(answers.map(({ status }) => status)).toEqual([sent.length === 0 ? 400 : 200])
  })
})

describe('a request inside a request', () => {
  // T082
  test('stays the body of the first one', async () => {
    const postern = await startPostern()
    const bytes = request(
      'GET /api/v1/public/a',
      [authorization, `Content-Length: ${hidden.length}`],
      hidden,
    )

    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 2, quietMs: 300 })

    expect(answers.map(({ status }) => status)).toEqual([200])
    expect(postern.upstream.requests).toHaveLength(1)
    expect(postern.upstream.requests[0]?.body).toBe(hidden)
  })

  test('is not run when the first one is refused', async () => {
    const postern = await startPostern()
    const bytes = request(
      'POST /api/v1/none',
      [authorization, `Content-Length: ${hidden.length}`],
      hidden,
    )

    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 2, quietMs: 300 })

    expect(answers.map((answer) => answer.json())).toMatchObject([{ code: 401 }])
    expect(postern.upstream.requests).toEqual([])
  })
})

describe('requests in one write', () => {
  // T084
  test('are answered in order, each for its own caller', async () => {
    const postern = await startPostern()
    const editor = [authorization]
    const admin = [`Authorization: Bearer ${tokenOf('admin', { identity: 1 })}`]
    const bytes =
      request('GET /api/v1/public/a', editor) +
      request('GET /api/v1/sys-user', editor) +
      request('GET /api/v1/sys-user', admin)

    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 3 })

    expect(answers.map((answer) => answer.json())).toEqual([
      { ok: true },
      { code: 401, msg: expect.any(String) },
      { ok: true },
    ])
    const callers = postern.upstream.requests.map((one) => [one.target, one.values('x-user-id')[0]])
    expect(callers).toEqual([
      ['/api/v1/public/a', '42'],
      ['/api/v1/sys-user', '1'],
    ])
  })

  // T136
  test('by two users who alternate never carry the wrong identity', async () => {
    const postern = await startPostern()
    const turns = Array.from({ length: 1000 }, (_, turn) => (turn % 2 === 0 ? '1' : '2'))
    const tokens = {
      '1': tokenOf('admin', { identity: 1 }),
      '2': tokenOf('admin', { identity: 2 }),
    }
    const requests = turns.map((id) =>
      request(`GET /api/v1/of-${id}`, [`Authorization: Bearer ${tokens[id as '1' | '2']}`]),
    )

    for (let at = 0; at < 1000; at += 50) {
      const bytes = requests.slice(at, at + 50).join('')
      await sendRaw(postern.publicPort, bytes, { expected: 50 })
    }

    const seen = postern.upstream.requests.map(
      (one) => one.target === `/api/v1/of-${one.values('x-user-id')[0]}`,
    )
    expect(seen).toHaveLength(1000)
    expect(seen.every(Boolean)).toBe(true)
  })
})

describe('a client that sends requests without waiting for answers', () => {
  test('occupies one upstream connection, not one for each request', async () => {
    const postern = await startPostern()
    let most = 0
    let waiting = 0
    postern.upstream.answerWith((socket) => {
      most = Math.max(most, ++waiting)
      setTimeout(() => {
        waiting--
        socket.write(ok)
      }, 2)
    })

    const bytes = request('GET /api/v1/public/a', [authorization]).repeat(40)
    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 40 })

    expect(answers).toHaveLength(40)
    expect(most).toBe(1)
  })

  test('has one of them run, and the others wait, however many there are', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith(() => {})

    const bytes = request('GET /api/v1/public/a', [authorization]).repeat(500)
    const { closed } = await sendRaw(postern.publicPort, bytes, { firstByteMs: 1500 })

    expect(closed).toBe(false)
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

describe('an upload', () => {
  test('that expects 100-continue is invited only once it is allowed', async () => {
    const postern = await startPostern()
    const head = post(['Content-Length: 5', 'Expect: 100-continue'])

    const allowed = await sendRaw(postern.publicPort, [head, 'abcde'])
    const refused = await sendRaw(
      postern.publicPort,
      request('POST /api/v1/sys-user', [
        authorization,
        'Content-Length: 5',
        'Expect: 100-continue',
      ]),
    )

    // RFC 9110 10.1.1: to a client that did not wait, it need not be said.
    expect(allowed.bytes.toString()).toMatch(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200/)
    expect(postern.upstream.requests.map(({ body }) => body)).toEqual(['abcde'])
    expect(postern.upstream.requests[0]?.values('expect')).toEqual([])
    expect(refused.bytes.toString()).not.toContain('100 Continue')
    expect(refused.answers.map((answer) => answer.json())).toMatchObject([{ code: 401 }])
    expect(refused.closed).toBe(true)
  })

  test.each([
    ['by its length', ['Content-Length: 2000'], 'a'.repeat(2000)],
    ['by its chunks', ['Transfer-Encoding: chunked'], `7d0\r\n${'a'.repeat(2000)}\r\n0\r\n\r\n`],
  ])('over the body limit is refused %s', async (_, headers, body) => {
    const postern = await startPostern({ config: { limits: { bodyBytes: 1000 } } })

    const { answers, closed } = await sendRaw(postern.publicPort, post(headers, body))

    expect(answers.map(({ status }) => status)).toEqual([413])
    expect(closed).toBe(true)
    expect(postern.upstream.requests).toEqual([])
  })

  // T211: what the client has sent in vain must not cost it the answer.
  test.each([
    ['by its length', ['Content-Length: 8000000'], 'a'.repeat(8_000_000)],
    [
      'by its chunks',
      ['Transfer-Encoding: chunked'],
      `7a1200\r\n${'a'.repeat(8_000_000)}\r\n0\r\n\r\n`,
    ],
  ])(
    'far over the body limit learns so %s, and the upstream never sees its end',
    async (_, headers, body) => {
      const postern = await startPostern({ config: { limits: { bodyBytes: 100_000 } } })

      // The connection ends when the client has found the answer, or is too long about it.
      const { answers, closed } = await sendRaw(postern.publicPort, post(headers, body), {
        expected: 2,
        quietMs: 60_000,
      })

      expect(answers.map(({ status }) => status)).toEqual([413])
      expect(closed).toBe(true)
      expect(postern.upstream.requests).toEqual([])
      await until(() => postern.upstream.connections() === 0)
    },
  )

  // T086: the upstream answers 413 before it has read the body.
  test('that the upstream refuses early gets that answer, and the next request its own', async () => {
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [await earlyRefuser()] } } },
    })
    const upload = [post(['Content-Length: 1000000']), 'a'.repeat(1_000_000)]

    const { answers } = await sendRaw(postern.publicPort, [...upload, ...upload], { expected: 2 })

    expect(answers.map(({ status }) => status)).toEqual([413, 413])
  })

  test('that is answered early on a connection the upstream would keep leaves no rest on it', async () => {
    const early = await startEarlyUpstream()
    const narrow = await startPostern({
      config: { upstreams: { backend: { targets: [early.origin], connections: 1 } } },
    })
    const client = connect(narrow.publicPort, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    client.write(post(['Content-Length: 100000'], 'a'.repeat(70_000)))
    const [answer] = (await once(client, 'data')) as [Buffer]

    const next = await narrow.call('GET /api/v1/public/a', { as: 'editor' })
    client.write('a'.repeat(30_000))
    client.write(request('GET /api/v1/public/b', [authorization]))
    const [behind] = (await once(client, 'data')) as [Buffer]

    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 409 /)
    expect(next.json()).toEqual({ ok: true })
    expect(behind.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /)
  })
})

/** The address of an upstream that answers 413 to the first bytes it sees, and reads no further. */
async function earlyRefuser(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.pause()
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers 409 to a POST at its first bytes and keeps the connection; anything else gets 200. */
async function startEarlyUpstream(): Promise<{ readonly origin: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (text.startsWith('POST'))
        socket.write('HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n')
      else if (text.startsWith('GET')) socket.write(ok)
      else socket.write('HTTP/1.1 500 Rest\r\nContent-Length: 0\r\n\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a client that floods headers', () => {
  test.each([
    ['100 headers', 90, 200],
    ['2,100 headers', 2100, 431],
  ])('gets the status of its count: %s', async (_, count, status) => {
    const postern = await startPostern()
    const headers = Array.from({ length: count }, (_, at) => `X-H-${at}: v`)

    const { answers } = await sendRaw(
      postern.publicPort,
      request('GET /api/v1/public/a', [...headers, authorization]),
    )

    expect(answers.map((answer) => answer.status)).toEqual([status])
    expect(postern.upstream.requests).toHaveLength(status === 200 ? 1 : 0)
  })

  test('a header of 100 KiB is refused with 431', async () => {
    const postern = await startPostern()

    const { answers } = await sendRaw(
      postern.publicPort,
      request('GET /', [`X-Big: ${'a'.repeat(102_400)}`]),
    )

    expect(answers.map(({ status }) => status)).toEqual([431])
  })
})

describe('the Http11Probe cases that must be rejected', () => {
  interface Case {
    readonly file: string
    readonly id: string
    readonly expected: string
    readonly raw: string | null
  }
  const mustReject = new Set([
    '`400`',
    '`400` or close',
    '`400` or connection close',
    '`400`, or connection close',
    '`400`, close, or timeout',
    '`400`, `431`, or close',
    '`400`/`501` or close',
  ])
  const all = JSON.parse(corpusText('http11probe/cases.json') ?? '[]') as Case[]
  const cases = all.filter(({ raw, expected }) => raw !== null && mustReject.has(expected))

  /** Four cases name a long payload instead of holding it. */
  function expand({ id, raw }: Case): string {
    if (id === 'MAL-LONG-HEADER-NAME') return request('GET /', [`${'A'.repeat(100_000)}: v`])
    if (id === 'MAL-LONG-HEADER-VALUE') return request('GET /', [`X-Big: ${'B'.repeat(100_000)}`])
    if (id === 'MAL-LONG-METHOD') return request(`${'A'.repeat(100_000)} /`)
    if (id === 'MAL-MANY-HEADERS') {
      return request(
        'GET /',
        Array.from({ length: 10_000 }, (_, at) => `X-H-${at}: value`),
      )
    }
    return (raw ?? '').replaceAll('localhost:8080', 'gateway.test')
  }

  test(`are all rejected (${cases.length} cases)`, async () => {
    const postern = await startPostern({
      routes: [
        {
          path: '/',
          upstream: 'backend',
          access: 'public',
          reason: 'so that nothing else refuses',
        },
      ],
      // Some cases never finish: the gateway must end them by itself.
      config: { limits: { headersTimeoutMs: 300, requestTimeoutMs: 500 } },
    })

    const accepted: string[] = []
    await inParallel(cases, async (one) => {
      const { answers, closed } = await sendRaw(postern.publicPort, expand(one), {
        quietMs: 60_000,
      })
      const [first] = answers
      const rejected = first === undefined ? closed : first.status >= 400 && first.status <= 505
      if (!rejected || first?.status === 500) accepted.push(`${one.id} ${first?.status} ${closed}`)
    })

    expect(accepted).toEqual([])
    expect(cases.length === 86 || all.length === 0).toBe(true)
  })
})
