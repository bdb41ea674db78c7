import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalPath, everyAllowance } from '../../src/policy/rule/canonical-path.ts'
import { corpusLines } from '../support/corpora.ts'
import { inParallel } from '../support/in-parallel.ts'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const both = { encodedSlash: true, semicolon: true }

function start(allow: object, rules: readonly string[] = ['editor, /files/*, GET']) {
  return startPostern({
    rules,
    routes: [
      { path: '/', upstream: 'backend' },
      { path: '/files', upstream: 'backend', allow },
    ],
  })
}

describe('a route that allows an encoded slash', () => {
  test.each([
    ['/files/group%2fproject', '/files/group%2Fproject'],
    ['/files/group%2Fproject/%61', '/files/group%2Fproject/a'],
    ['/files/a%2Fb%2fc', '/files/a%2Fb%2Fc'],
  ])('%s goes out as %s, the form that was decided on and logged', async (target, sent) => {
    const postern = await start({ encodedSlash: true })

    expect((await postern.call(`GET ${target}`, { as: 'editor' })).status).toBe(200)
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([sent])
    expect(postern.logText()).toContain(`"path":${JSON.stringify(sent)}`)
  })

  test.each([
    // What a server that decodes it would make dot segments and empty segments of.
    '/files/..%2fsecret',
    '/files/a%2f..%2fsecret',
    '/files/a%2f..',
    '/files/a%2f%2e%2e/secret',
    '/files/a%2f.',
    '/files/%2fsecret',
    '/files/a%2f',
    '/files/a%2f/b',
    '/files/a%2f%2fb',
    // What stays ambiguous.
    '/files/a%252fb',
    '/files/a%5cb',
    '/files/a;b',
    '/files/a%3bb',
    // On another route.
    '/other/a%2fb',
    '/files%2fa',
    '/%2ffiles/a',
  ])('%s is refused', async (target) => {
    const postern = await start({ encodedSlash: true })

    expectRejected(await postern.call(`GET ${target}`, { as: 'admin' }), 400, postern.upstream)
  })

  test('compares with rules that spell it likewise', async () => {
    const rules = ['editor, /files/group%2F*, GET', 'reader, /files/:id, GET']
    const postern = await start({ encodedSlash: true }, rules)
    const asked = async (path: string, as: string) =>
      (await postern.call(`GET ${path}`, { as })).json()

    expect(await asked('/files/group%2fproject', 'editor')).toEqual({ ok: true })
    expect(await asked('/files/group/project', 'editor')).toMatchObject({ code: 401 })
    expect(await asked('/files/group%2fproject', 'reader')).toEqual({ ok: true })
    expect(await asked('/files/group%2fproject/x', 'reader')).toMatchObject({ code: 401 })
  })
})

describe('a route that allows a semicolon', () => {
  test.each(['/files/a;v=1', '/files/a;v=1;w/b;x', '/files/...;x', '/files/a;..'])(
    '%s goes out as it came',
    async (target) => {
      const postern = await start({ semicolon: true })

      expect((await postern.call(`GET ${target}`, { as: 'editor' })).status).toBe(200)
      expect(postern.upstream.requests.map((one) => one.target)).toEqual([target])
    },
  )

  test.each([
    // T014: what a server that cuts parameters off would make dot segments and empty segments of.
    '/files/..;/secret',
    '/files/..;x=1/secret',
    '/files/.;/secret',
    '/files/%2e%2e;/secret',
    '/files/;x/secret',
    '/files/a/;',
    // A second spelling of the first.
    '/files/a%3bb',
    '/files/a%2fb',
    '/other/a;b',
    '/files;x/a',
  ])('%s is refused', async (target) => {
    const postern = await start({ semicolon: true })

    expectRejected(await postern.call(`GET ${target}`, { as: 'admin' }), 400, postern.upstream)
  })
})

const three = { encodedPercent: true, encodedHash: true, encodedQuestionMark: true }

describe('a route that allows %25, %23 and %3F', () => {
  test.each([
    ['/files/100%25.txt', '/files/100%25.txt'],
    ['/files/C%23%20notes.md', '/files/C%23%20notes.md'],
    ['/files/%23channel', '/files/%23channel'],
    ['/files/why%3f.md', '/files/why%3F.md'],
    ['/files/what%3fid=1', '/files/what%3Fid=1'],
    // The name of this file contains "%20".
    ['/files/My%2520File.pdf', '/files/My%2520File.pdf'],
    ['/files/100%%32%35', undefined],
    ['/files/a%25%32%30b', '/files/a%2520b'],
  ])('%s goes out as %s, the form that was decided on and logged', async (target, sent) => {
    const postern = await start(three)

    const answer = await postern.call(`GET ${target}`, { as: 'editor' })
    expect(answer.status).toBe(sent === undefined ? 400 : 200)
    if (sent === undefined) return
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([sent])
    expect(postern.logText()).toContain(`"path":${JSON.stringify(sent)}`)
  })

  test.each([
    // What a server that decodes twice would make dot segments, separators and controls of.
    '/files/%252e%252e/secret',
    '/files/.%252e/secret',
    '/files/%25%32e%252e/secret',
    '/files/a%252f..%252fsecret',
    '/files/a%252fb',
    '/files/a%255cb',
    '/files/a%253bb',
    '/files/a%2500b',
    '/files/a%250d%250aX:1',
    '/files/%25c0%25ae%25c0%25ae/secret',
    '/files/%25ff',
    '/files/%25u002e%25u002e/secret',
    // What a third round would change.
    '/files/%25252e%25252e/secret',
    '/files/%252%2565%252e/secret',
    '/files/a%252525',
    // What a server that cuts the decoded path at "?" or "#" would make a dot segment of.
    '/files/..%3fx',
    '/files/..%23x',
    '/files/.%3f',
    '/files/a/..%23/b',
    '/files/..%253fx',
    '/files/%252e%252e%3fx',
    // What stays ambiguous.
    '/files/a%5cb',
    '/files/a%2fb',
    '/files/a#b',
    '/files/100%.txt',
    '/files/a%2',
    // On another route.
    '/other/100%25.txt',
    '/other/a%23',
    '/other/a%3f',
    '/files%23a',
    '/files%3fa',
    '/files%252fa',
  ])('%s is refused', async (target) => {
    const postern = await start(three)

    expectRejected(await postern.call(`GET ${target}`, { as: 'admin' }), 400, postern.upstream)
  })

  test.each([
    ['encodedPercent', '/files/100%25', ['/files/a%23', '/files/a%3F', '/files/a%2523']],
    ['encodedHash', '/files/a%23', ['/files/100%25', '/files/a%3F']],
    ['encodedQuestionMark', '/files/a%3F', ['/files/100%25', '/files/a%23']],
  ])('%s allows %s, not %j', async (name, allowed, refused) => {
    const postern = await start({ [name]: true })

    expect((await postern.call(`GET ${allowed}`, { as: 'editor' })).status).toBe(200)
    for (const target of refused) {
      expect((await postern.call(`GET ${target}`, { as: 'admin' })).status).toBe(400)
    }
    expect(postern.upstream.requests.map((one) => one.target)).toEqual([allowed])
  })

  test('compares with rules that spell them likewise', async () => {
    const rules = ['editor, /files/C%23*, GET', 'reader, /files/100%25.txt, GET']
    const postern = await start(three, rules)
    const asked = async (path: string, as: string) =>
      (await postern.call(`GET ${path}`, { as })).json()

    expect(await asked('/files/C%23.md', 'editor')).toEqual({ ok: true })
    expect(await asked('/files/C', 'editor')).toMatchObject({ code: 401 })
    expect(await asked('/files/100%25.txt', 'reader')).toEqual({ ok: true })
    expect(await asked('/files/100%2525.txt', 'reader')).toMatchObject({ code: 401 })
  })
})

describe('a removed or an own endpoint', () => {
  test.each([
    '/api/v1/refresh_token%3fx',
    '/api/v1/refresh_token%23',
    '/api/v1/refresh%255ftoken',
    '/api/v1/%256cogin',
    '/api/v1/login%3Fx=1',
    '/api/v1%252Frefresh_token%2523',
    '/api/v1%2frefresh_token',
    '/api%2Fv1%2FRefresh_Token',
    '/api/v1/refresh_token;x=1',
    '/api;a/v1;b/refresh_token;c',
    '/api/v1%2Flogin',
    '/api/v1/login;jsessionid=1',
    '/api/v1/getCaptcha;x',
  ])('is not reached as %s, although the route allows the spelling', async (path) => {
    const postern = await startPostern({
      routes: [
        {
          path: '/',
          upstream: 'backend',
          access: 'public',
          reason: 'so that nothing else refuses',
          allow: { ...both, ...three },
        },
      ],
    })

    expectRejected(await postern.call(`POST ${path}`), 404, postern.upstream)
  })
})

describe('what no route allows', () => {
  test('is 400 for a role whose rules would have it', async () => {
    const postern = await startPostern({ rules: ['editor, /files/a%2Fb, GET'] })

    expectRejected(await postern.call('GET /files/a%2fb', { as: 'editor' }), 400, postern.upstream)
  })

  test('an allowance by half is none', async () => {
    const postern = await start({ semicolon: true })

    expectRejected(await postern.call('GET /files/a;x%2fb', { as: 'admin' }), 400, postern.upstream)
    expectUnauthenticated(await postern.call('GET /files/a;x'), postern.upstream)
  })
})

describe('every reading of an allowed path', () => {
  const piece = fc.constantFrom(
    ...['/', '.', '..', ';', '%2f', '%2F', '%2e', '%3b', 'a', 'B', '%41', '%25', '\\', ';x=', '%'],
    ...['%23', '%3F', '2e', '2F', '3f', '25', '%2', '%5c', 'u002e'],
  )
  const raw = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`)
  const decoded = (path: string) => path.replaceAll('%2F', '/')
  const cut = (path: string) => path.replace(/;[^/]*/g, '')
  const stopped = (path: string) => path.replace(/%(23|3F).*/, '')
  // As a decoder that leaves alone what is not an escape, once more than it should.
  const twice = (path: string) =>
    path
      .replaceAll('%25', '%')
      .replace(/%([2-7][\dA-F])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const inEveryOrder = (path: string, left: readonly ((path: string) => string)[]): string[] => [
    path,
    ...left.flatMap((read) =>
      inEveryOrder(
        read(path),
        left.filter((other) => other !== read),
      ),
    ),
  ]

  test('has no dot segment and no empty one: decoded, cut and stopped, in every order', () => {
    fc.assert(
      fc.property(raw, (text) => {
        const path = canonicalPath(text, everyAllowance)
        if (path === undefined) return
        expect(canonicalPath(path, everyAllowance)).toBe(path)
        for (const read of inEveryOrder(path, [decoded, cut, stopped])) {
          expect([path, read, /\/\.{1,2}(\/|$)|\/\//.test(read)]).toEqual([path, read, false])
        }
        const again = twice(path).replace(/[?#].*/, '')
        for (const read of [again, cut(again)]) {
          expect([path, read, /\/\.{1,2}(\/|$)|\/\/|\\/.test(read)]).toEqual([path, read, false])
        }
      }),
      { numRuns: Number(process.env['POSTERN_FUZZ_RUNS'] ?? 20_000) },
    )
  })

  const payloads = corpusLines(
    'payloads/Directory_Traversal_Intruder_directory_traversal.txt',
    'payloads/Directory_Traversal_Intruder_deep_traversal.txt',
    'payloads/Directory_Traversal_Intruder_traversals-8-deep-exotic-encoding.txt',
  )
  test(`stays under its route for the public traversal payloads (${payloads.length})`, async () => {
    const postern = await start(both)
    const token = tokenOf('editor')

    await inParallel(payloads, async (payload) => {
      const text = payload.replace(/[\x00-\x20]/g, '').replaceAll('{FILE}', 'sys-user')
      await postern.call(`GET /files/${text}`, { token })
    })

    const escapes = postern.upstream.requests.filter(({ target }) => {
      const path = decoded(target.split('?')[0] ?? '')
      return [path, cut(path)].some((one) => !one.startsWith('/files/') || /\/\.{0,2}\//.test(one))
    })
    expect(escapes.map(({ target }) => target)).toEqual([])
  })
})

// A server that decodes before it routes, or cuts off parameters, would see a path of another
// route: one with other checks, or with an upstream of its own.
describe('a path that is of another route once it is decoded or cut', () => {
  const every = { ...both, ...three }
  const routes = [
    {
      path: '/',
      upstream: 'backend',
      access: 'public',
      reason: 'a front end',
      allow: { ...every },
    },
    { path: '/admin', upstream: 'backend' },
    {
      path: '/files',
      upstream: 'backend',
      access: 'public',
      reason: 'downloads',
      allow: { ...every },
    },
    { path: '/files/private', upstream: 'backend', access: 'authenticated' },
  ]

  test.each([
    '/admin;x/users',
    '/admin;x',
    '/admin%2Fusers',
    '/admin;x%2Fy/users',
    '/files/private;x/1',
    '/files/private%2F1',
    '/files%2Fprivate/1',
    '/files;a/private;b/1',
    '/files;a%2Fb/private/1',
    '/admin%3Fx',
    '/admin%23/users',
    '/%2561dmin/users',
    '/admin%252Fusers',
    '/files/private%3F',
    '/files/privat%2565/1',
    '/files%252Fprivate/1',
    '/files%3Fx/private/1',
  ])('%s is refused', async (target) => {
    const postern = await startPostern({ rules: [], routes })

    expectRejected(await postern.call(`GET ${target}`), 400, postern.upstream)
  })

  test.each([
    ...['/files/a;x/1', '/files/a%2Fprivate', '/a;admin', '/a%2Fadmin;x'],
    ...['/files/a%3Fprivate', '/files/100%25/private', '/a%23/admin', '/files/a%2520b'],
  ])('%s stays where it is, and passes', async (target) => {
    const postern = await startPostern({ rules: [], routes })

    expect((await postern.call(`GET ${target}`)).json()).toEqual({ ok: true })
  })

  test.each(['/api/v1/login;x%2Fy', '/api/v1/refresh_token;x%2Fy', '/api/v1;x%2Fy/refresh_token'])(
    '%s does not reach an endpoint that is ours or gone',
    async (target) => {
      const postern = await startPostern({ rules: [], routes })

      expectRejected(await postern.call(`GET ${target}`, { as: 'admin' }), 404, postern.upstream)
    },
  )
})
