import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalPath, everyAllowance } from '../../src/policy/rule/canonical-path.ts'
import { corpusLines } from '../support/corpora.ts'
import { inParallel } from '../support/in-parallel.ts'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { request, sendRaw } from '../support/raw-client.ts'
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

describe('a removed or an own endpoint', () => {
  test.each([
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
          allow: both,
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
  )
  const raw = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`)
  const decoded = (path: string) => path.replaceAll('%2F', '/')
  const cut = (path: string) => path.replace(/;[^/]*/g, '')

  test('is canonical: as it stands, decoded, cut, decoded and cut, cut and decoded', () => {
    fc.assert(
      fc.property(raw, (text) => {
        const path = canonicalPath(text, everyAllowance)
        if (path === undefined) return
        expect(canonicalPath(path, everyAllowance)).toBe(path)
        for (const read of [cut(decoded(path)), decoded(cut(path)).replace(/\/$/, '')]) {
          expect([path, read, canonicalPath(read || '/')]).toEqual([path, read, read || '/'])
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
    const authorization = `Authorization: Bearer ${tokenOf('editor')}`

    await inParallel(payloads, async (payload) => {
      const text = payload.replace(/[\x00-\x20]/g, '').replaceAll('{FILE}', 'sys-user')
      await sendRaw(postern.publicPort, request(`GET /files/${text}`, [authorization]))
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
  const routes = [
    { path: '/', upstream: 'backend', access: 'public', reason: 'a front end', allow: { ...both } },
    { path: '/admin', upstream: 'backend' },
    {
      path: '/files',
      upstream: 'backend',
      access: 'public',
      reason: 'downloads',
      allow: { ...both },
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
  ])('%s is refused', async (target) => {
    const postern = await startPostern({ rules: [], routes })

    expectRejected(await postern.call(`GET ${target}`), 400, postern.upstream)
  })

  test.each(['/files/a;x/1', '/files/a%2Fprivate', '/a;admin', '/a%2Fadmin;x'])(
    '%s stays where it is, and passes',
    async (target) => {
      const postern = await startPostern({ rules: [], routes })

      expect((await postern.call(`GET ${target}`)).json()).toEqual({ ok: true })
    },
  )

  test.each(['/api/v1/login;x%2Fy', '/api/v1/refresh_token;x%2Fy', '/api/v1;x%2Fy/refresh_token'])(
    '%s does not reach an endpoint that is ours or gone',
    async (target) => {
      const postern = await startPostern({ rules: [], routes })

      expectRejected(await postern.call(`GET ${target}`, { as: 'admin' }), 404, postern.upstream)
    },
  )
})
