import { describe, expect, test } from 'vitest'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const editor = tokenOf('editor')
const admin = tokenOf('admin', { identity: 1 })

describe('a request with more than one token', () => {
  test.each([
    ['header before cookie', '', [`Authorization: Bearer ${editor}`, `Cookie: jwt=${admin}`]],
    ['header before query', `?token=${admin}`, [`Authorization: Bearer ${editor}`]],
    ['query before cookie', `?token=${editor}`, [`Cookie: jwt=${admin}`]],
    ['another scheme, then the cookie', '', ['Authorization: Basic eDp5', `Cookie: jwt=${editor}`]], // T124
    ['an empty query token, then the cookie', '?token=', [`Cookie: jwt=${editor}`]],
  ])('is taken for the first carrier that has one: %s', async (_, query, headers) => {
    const postern = await startPostern()

    await postern.call(`GET /api/v1/public/a${query}`, { headers })

    expect(postern.upstream.requests.map((one) => one.values('x-role-key'))).toEqual([['editor']])
  })

  test('does not fall back to another carrier when the first token is bad', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/public/a', {
      headers: ['Authorization: Bearer bad', `Cookie: jwt=${admin}`],
    })

    expectUnauthenticated(answer, postern.upstream)
  })

  test.each([
    ['two in the query', `?token=${editor}&token=${editor}`, []],
    ['two in the query, one encoded', `?token=${editor}&t%6fken=${editor}`, []],
    ['two cookies', '', [`Cookie: jwt=${editor}; jwt=${admin}`]],
    ['two Cookie headers', '', [`Cookie: jwt=${editor}`, `Cookie: jwt=${admin}`]],
    ['two in one header', '', [`Authorization: Bearer ${editor}, Bearer ${admin}`]],
  ])('is refused when one carrier has %s', async (_, query, headers) => {
    const postern = await startPostern()

    const answer = await postern.call(`GET /api/v1/public/a${query}`, { headers })

    expectUnauthenticated(answer, postern.upstream)
  })

  test('is refused with two Authorization headers', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/public/a', {
      headers: [`Authorization: Bearer ${editor}`, `Authorization: Bearer ${admin}`],
    })

    expect(answer.status).toBe(400)
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('a name that is almost a carrier', () => {
  test.each([
    [`?token[]=${editor}`, []],
    [`?Token=${editor}`, []],
    [`?access_token=${editor}`, []],
    ['', [`Cookie: JWT=${editor}`]],
    ['', [`Cookie: xjwt=${editor}`]],
    ['', [`Authorization: ${editor}`]],
    ['', [`Authorization: Bearer  ${editor}`]],
    ['', [`X-Authorization: Bearer ${editor}`]],
  ])('carries nothing: %s %j', async (query, headers) => {
    const postern = await startPostern()

    expectUnauthenticated(
      await postern.call(`GET /api/v1/public/a${query}`, { headers }),
      postern.upstream,
    )
  })
})

describe('a token in the query', () => {
  test.each([
    [`token=${editor}`, ''],
    [`a=1&token=${editor}&b=%2F`, '?a=1&b=%2F'],
    [`t%6fken=${editor}`, ''],
    [`a&token=${editor}&b=`, '?a&b='],
  ])('is cut out of what the upstream sees: %#', async (query, sent) => {
    const postern = await startPostern()

    await postern.call(`GET /api/v1/public/a?${query}`)

    expect(postern.upstream.requests.map(({ target }) => target)).toEqual([
      `/api/v1/public/a${sent}`,
    ])
  })

  // T130
  test('stands in no log, no error, no header to the upstream', async () => {
    const postern = await startPostern({
      config: { upstreams: { dead: { targets: ['http://127.0.0.1:9'] } } },
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/dead', upstream: 'dead' },
      ],
    })

    const answers = await Promise.all([
      postern.call(`GET /api/v1/public/a?token=${editor}`, {
        headers: [`Referer: http://app.test/page?token=${editor}`],
      }),
      postern.call(`GET /api/v1/sys-user?token=${editor}`),
      postern.call(`GET /dead?token=${admin}`),
      postern.call(`GET /api/v1/public/../x?token=${editor}`),
      postern.call(`GET /api/v1/public/a?token=${editor}x`),
    ])

    const everything = [
      postern.logText(),
      JSON.stringify(postern.upstream.requests),
      ...answers.map((answer) => JSON.stringify([answer.headers, answer.body])),
    ].join('\n')
    for (const token of [editor, admin]) {
      expect(everything).not.toContain(token.slice(0, 24))
      expect(everything).not.toContain(token.slice(-24))
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 502, 400, 200])
  })

  // T132
  test('makes every answer one that is not stored and not named in a Referer', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nCache-Control: public, max-age=60\r\nContent-Length: 0\r\n\r\n',
      ),
    )

    const passed = await postern.call(`GET /api/v1/public/a?token=${editor}`)
    const refused = await postern.call(`GET /api/v1/sys-user?token=${editor}`)

    for (const answer of [passed, refused]) {
      expect(answer.header('cache-control')).toBe('no-store')
      expect(answer.header('referrer-policy')).toBe('no-referrer')
    }
  })
})

describe('a token in a cookie', () => {
  const cookie = `Cookie: jwt=${editor}`
  const post = (headers: readonly string[]) => ({ headers, body: '{}' })

  // T133: a browser sends the cookie along with requests that another site makes it send.
  test.each([
    ['a foreign Origin', ['Origin: https://evil.example']],
    ['an opaque Origin', ['Origin: null']],
    ['Sec-Fetch-Site cross-site', ['Sec-Fetch-Site: cross-site']],
    ['Sec-Fetch-Site same-site', ['Sec-Fetch-Site: same-site']],
  ])('is refused on an unsafe method with %s', async (_, headers) => {
    const postern = await startPostern()

    const answer = await postern.call('POST /api/v1/articles', post([cookie, ...headers]))

    expectUnauthenticated(answer, postern.upstream)
  })

  test.each([
    [
      'its own Origin',
      'POST /api/v1/articles',
      [cookie, 'Origin: http://gateway.test', 'Sec-Fetch-Site: same-origin'],
    ],
    ['no browser headers', 'POST /api/v1/articles', [cookie]],
    [
      'a foreign Origin on a safe method',
      'GET /api/v1/public/a',
      [cookie, 'Origin: https://evil.example'],
    ],
    [
      'a foreign Origin, but the header carrier',
      'POST /api/v1/articles',
      [
        `Authorization: Bearer ${editor}`,
        'Origin: https://evil.example',
        'Sec-Fetch-Site: cross-site',
      ],
    ],
  ])('passes with %s', async (_, line, headers) => {
    const postern = await startPostern()

    const answer = await postern.call(line, post(headers))

    expect(answer.json()).toEqual({ ok: true })
  })
})

describe('a pre-flight without a token', () => {
  test('is not proxied to a protected path', async () => {
    const postern = await startPostern()

    const answer = await postern.call('OPTIONS /api/v1/public/a', {
      headers: ['Origin: https://app.test', 'Access-Control-Request-Method: GET'],
    })

    expectUnauthenticated(answer, postern.upstream)
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })
})
