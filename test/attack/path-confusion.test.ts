import { describe, expect, test } from 'vitest'
import { corpusLines } from '../support/corpora.ts'
import { inParallel } from '../support/in-parallel.ts'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { allowedUnderEveryReading } from '../support/path-oracle.ts'
import { sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

describe('a path that two parsers could read as two paths', () => {
  const ambiguous = [
    // T002, T018, T019: dot segments, whoever removes them.
    '/api/v1/public/../sys-user',
    '/api/v1/./public/a',
    '/api/v1/public/.',
    '/api/v1/public/..',
    '/.',
    '/..',
    // T003, T004, T006: the same behind one or two rounds of decoding.
    '/api/v1/public/..%2fsys-user',
    '/api/v1/public/..%2Fsys-user',
    '/api/v1/public/%2e%2e/sys-user',
    '/api/v1/public/%2E%2e/sys-user',
    '/api/v1/public/.%2e/sys-user',
    '/api/v1/%2e/public/a',
    '/%2e%2e',
    '/api/v1/public/%252e%252e/sys-user',
    '/api/v1/public/..%252fsys-user',
    // T007, T033: URL parsers turn a backslash into a slash after the check.
    '/api/v1/public/x\\..\\..\\sys-user',
    '/\\evil.example/x',
    '/api/v1/public/a%5cb',
    // T010, T013: where the path ends.
    '/api/v1/sys-user#/profile',
    '/api/v1/sys-user%23/profile',
    '/api/v1/sys-user%3f/profile',
    '/api/v1/public/a?x=1#y',
    // T014: parameters that servlet containers cut off.
    '/api/v1/public/..;/sys-user',
    '/api/v1/public/a;x=1',
    '/api/v1/public/a%3bx=1',
    // T016, T017, T033: empty segments.
    '//api/v1/sys-user',
    '/api//v1/public/a',
    '/api/v1//sys-user',
    '///api/v1/public/a',
    '/api/v1/public//',
    '//evil.example/api/v1/public/a',
    // T023: NUL ends a C string.
    '/api/v1/public/a%00',
    '/api/v1/public/a%00.js',
    '/api/v1/public/a%0d%0aX-Role-Key:%20admin',
    // T025, T026: not UTF-8, or not the shortest form of it.
    '/api/v1/public/%c0%ae%c0%ae/sys-user',
    '/api/v1/public/..%c0%afsys-user',
    '/api/v1/public/%e0%80%af',
    '/api/v1/public/%f0%80%80%af',
    '/api/v1/public/%c1%9c',
    '/api/v1/public/%ff',
    '/api/v1/public/%ed%a0%80',
    '/api/v1/public/%f4%90%80%80',
    '/api/v1/public/%c2%85',
    // T028: escapes that are none.
    '/api/v1/public/%',
    '/api/v1/public/%2',
    '/api/v1/public/%zz',
    '/api/v1/public/%u002e%u002e/sys-user',
    // T029: bytes that have no place in a request line.
    '/api/v1/public/\x80',
    '/api/v1/public/\xff',
    '/api/v1/public/a?q=\xe9',
    // T035: other forms of target. test/attack/absolute-form.test.ts has those of T030.
    '*',
    // T042: an own endpoint with something behind it.
    '/api/v1/getCaptcha%2f',
  ]

  test('is refused with 400 before any upstream sees it', async () => {
    const postern = await startPostern()

    for (const target of ambiguous) {
      const answer = await postern.call(`GET ${target}`, { as: 'editor' })

      expect([target, answer.status]).toEqual([target, 400])
      expectRejected(answer, 400, postern.upstream)
      expect(answer.body).not.toContain(target)
    }
    expect((await postern.call('GET /api/v1/public/a', { as: 'editor' })).status).toBe(200)
  })

  test.each([
    ['SOH', '\x01'],
    ['DEL', '\x7f'],
    ['a space', ' '],
    ['a tab', '\t'],
    ['NUL', '\0'],
  ])('with %s inside is refused', async (_, byte) => {
    const postern = await startPostern()

    const answer = await postern.call(`GET /api/v1/public/a${byte}b`, { as: 'editor' })

    expect(answer.status).toBe(400)
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('a path with more than one spelling', () => {
  test.each([
    ['/api/v1/public/a', '/api/v1/public/a'],
    ['/api/v1/%70ublic/a', '/api/v1/public/a'], // T041
    ['/api/v1/public/%41%7e', '/api/v1/public/A~'],
    ['/api/v1/public/a%20b', '/api/v1/public/a%20b'],
    ['/api/v1/public/a%40b%3a', '/api/v1/public/a@b:'],
    ['/api/v1/public/%e4%bd%a0', '/api/v1/public/%E4%BD%A0'],
    ['/api/v1/public/a|b', '/api/v1/public/a%7Cb'],
    ['/api/v1/public/...', '/api/v1/public/...'],
    ['/api/v1/public/', '/api/v1/public/'],
    ['/api/v1/public/a?next=/x/../y&z=%2F;', '/api/v1/public/a?next=/x/../y&z=%2F;'],
  ])('%s goes out as %s, the form that was decided on and logged', async (target, sent) => {
    const postern = await startPostern()

    const answer = await postern.call(`GET ${target}`, { as: 'editor' })

    expect(answer.status).toBe(200)
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([sent])
    expect(postern.logText()).toContain(`"path":${JSON.stringify(sent.split('?')[0])}`)
  })

  test.each([
    ['GET /api/v1/%73ys-user', 'an encoded letter'], // T041
    ['GET /API/V1/public/a', 'upper case'], // T020
    ['GET /api/v1/public', 'no slash behind the prefix'],
    ['GET /api/v1/publicx/a', 'a longer segment'],
  ])('%s is decided as it stands (%s)', async (line) => {
    const postern = await startPostern()

    expectUnauthenticated(await postern.call(line, { as: 'editor' }), postern.upstream)
  })

  test('keeps its case when it is forwarded for admin', async () => {
    const postern = await startPostern()

    await postern.call('GET /API/V1/sys-user', { as: 'admin' })

    expect(postern.upstream.requests.map((one) => one.target)).toEqual(['/API/V1/sys-user'])
  })

  // T021: neither the login handler nor public.
  test.each(['POST /api/v1/login/', 'POST /api/v1/Login', 'GET /api/v1/getCaptcha/'])(
    '%s is not an own endpoint',
    async (line) => {
      const postern = await startPostern()

      expectUnauthenticated(await postern.call(line, { body: '{}' }), postern.upstream)
    },
  )

  test('POST /api/v1/%6cogin is the login endpoint and never proxied', async () => {
    const postern = await startPostern()

    const answer = await postern.call('POST /api/v1/%6cogin', { body: '{}' })

    expect(answer.json()).toMatchObject({ code: 400 })
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('a method that asks for something else than a path', () => {
  test('OPTIONS * is answered by the gateway', async () => {
    const postern = await startPostern()

    expect((await postern.call('OPTIONS *')).status).toBe(200)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('TRACE is refused, so that it cannot reflect a cookie', async () => {
    const postern = await startPostern()

    const answer = await postern.call('TRACE /api/v1/public/a', {
      as: 'admin',
      headers: ['Cookie: session=1'],
    })

    expectRejected(answer, 405, postern.upstream)
  })

  test('CONNECT is refused', async () => {
    const postern = await startPostern()

    const { answers } = await sendRaw(
      postern.publicPort,
      'CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n',
    )

    expect(answers.every(({ status }) => status >= 400)).toBe(true)
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('a target of unusual size', () => {
  test('passes up to the limit, and is refused with 414 above it', async () => {
    const postern = await startPostern()
    const prefix = '/api/v1/public/'
    const longest = prefix + 'a'.repeat(8192 - prefix.length)

    expect((await postern.call(`GET ${longest}`, { as: 'editor' })).status).toBe(200)
    expect((await postern.call(`GET ${longest}a`, { as: 'editor' })).status).toBe(414)
    expect((await postern.call(`GET ${longest.repeat(8)}`, { as: 'editor' })).status).toBe(431)
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

describe('the public traversal payloads', () => {
  const payloads = corpusLines(
    'payloads/Directory_Traversal_Intruder_directory_traversal.txt',
    'payloads/Directory_Traversal_Intruder_deep_traversal.txt',
    'payloads/Directory_Traversal_Intruder_traversals-8-deep-exotic-encoding.txt',
  )

  test(`never leave the allowed prefix under any reading (${payloads.length} payloads)`, async () => {
    const postern = await startPostern()
    const token = tokenOf('editor')

    await inParallel(payloads, async (payload) => {
      const text = payload.replace(/[\x00-\x20]/g, '').replaceAll('{FILE}', 'sys-user')
      await postern.call(`GET /api/v1/public/${text}`, { token })
    })

    const escapes = postern.upstream.requests.filter(
      ({ target }) => !allowedUnderEveryReading(target),
    )
    expect(escapes.map(({ target }) => target)).toEqual([])
  })
})
