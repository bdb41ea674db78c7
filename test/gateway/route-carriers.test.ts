import { describe, expect, test } from 'vitest'
import { findPassedCarriers } from '../../src/gateway/passed-carriers.ts'
import type { Received } from '../../src/gateway/stages.ts'
import { asked } from '../support/forward-auth.ts'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const editor = tokenOf('editor')
const admin = tokenOf('admin', { identity: 1 })
const expired = tokenOf('admin', { exp: 1_000_000_000 })
/** Such as a service issues for itself: no key of ours has this name. */
const foreign = `${Buffer.from('{"alg":"HS256","kid":"theirs"}').toString('base64url')}.e30.c2ln`

function start(
  carriers: readonly string[],
  more: object = {},
  config: PosternOptions['config'] = {},
) {
  return startPostern({
    config,
    rules: ['editor, /app/*, GET', 'admin, /app/*, GET'],
    routes: [
      { path: '/', upstream: 'backend' },
      { path: '/app', upstream: 'backend', carriers, ...more },
    ],
  })
}

describe('a route that names its carriers', () => {
  test.each([
    ['Basic', '', 'Authorization: Basic eDp5'],
    ['an opaque token', '', 'Authorization: Bearer opaque'],
    ['a JWT of its own', '', `Authorization: Bearer ${foreign}`],
    ['its own ?token=', '?a=1&token=abc&token=d%20e', 'X-Other: 1'],
  ])('reads our cookie, and leaves to the service %s', async (_, query, header) => {
    const postern = await start(['cookie'])
    const headers = [header, `Cookie: a=1; jwt=${editor}; b=2`]

    expect((await postern.call(`GET /app/x${query}`, { headers })).status).toBe(200)

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe(`/app/x${query}`)
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect(sent?.values('Cookie')).toEqual(['a=1; b=2'])
    const [name = '', value] = header.split(': ')
    expect(sent?.values(name)).toEqual([value])
  })

  test('leaves the service its own jwt cookie when only the header is ours', async () => {
    const postern = await start(['header'])
    const headers = [`Authorization: Bearer ${editor}`, 'Cookie: jwt=their-session; b=2']

    await postern.call('GET /app/x?token=z', { headers })

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe('/app/x?token=z')
    expect(sent?.values('Cookie')).toEqual(['jwt=their-session; b=2'])
    expect(sent?.values('Authorization')).toEqual([])
  })

  test.each([
    ['header', ['cookie'], '', [`Authorization: Bearer ${admin}`]],
    ['query', ['cookie', 'header'], `?token=${admin}`, []],
    ['cookie', ['header', 'query'], '', [`Cookie: jwt=${admin}`]],
  ])('does not take the caller from the %s', async (_, carriers, query, headers) => {
    const postern = await start(carriers)

    expectUnauthenticated(await postern.call(`GET /app/x${query}`, { headers }), postern.upstream)
  })

  test.each([
    ['a valid one in Authorization', '', `Authorization: Bearer ${admin}`],
    ['the same one', '', `Authorization: bearer ${editor}`],
    ['one behind another scheme', '', `Authorization: Token ${admin}`],
    ['one behind a version', '', `Authorization: Token v1.${admin}`],
    ['an expired one', '', `Authorization: Bearer ${expired}`],
    ['one in the query', `?token=${admin}&b=2`, 'X-Other: 1'],
    ['one in the query, encoded', `?t%6fken=${admin.replace('.', '%2E')}&b=2`, 'X-Other: 1'],
    ['a second one', `?token=abc&token=${admin}&b=2`, 'X-Other: 1'],
  ])('never gives the service a token of ours: %s', async (_, query, header) => {
    const postern = await start(['cookie'])
    const headers = [header, `Cookie: jwt=${editor}`]

    expect((await postern.call(`GET /app/x${query}`, { headers })).status).toBe(200)

    const [sent] = postern.upstream.requests
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect(sent?.values('Authorization')).toEqual([])
    expect(sent?.values('Cookie')).toEqual([])
    expect(sent?.target).toBe(query === '' ? '/app/x' : '/app/x?b=2')
  })

  test('searches a long value for our token without backtracking', async () => {
    // Quadratic time would take hours.
    const authorization = `Bearer ${'a'.repeat(2_000_000)}`
    const received = { headers: { authorization, cookies: [] }, query: '', route: { carriers: [] } }

    const passed = await findPassedCarriers(received as unknown as Received, async () => true)

    expect(passed.has('header')).toBe(true)
  })

  test('does not give it our cookie, which browsers add to every request', async () => {
    const postern = await start([], { access: 'public', reason: 'its own login' })
    const headers = ['Authorization: Basic eDp5', `Cookie: jwt=${admin}; b=2`]

    await postern.call('GET /app/x?token=z', { headers })

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe('/app/x?token=z')
    expect(sent?.values('Authorization')).toEqual(['Basic eDp5'])
    expect(sent?.values('Cookie')).toEqual(['b=2'])
    expect(sent?.values('x-role-key')).toEqual([])
  })

  test('gives it everything with forwardCredentials', async () => {
    const postern = await start(['cookie'], { forwardCredentials: true })
    const headers = [`Authorization: Bearer ${admin}`, `Cookie: jwt=${editor}`]

    await postern.call('GET /app/x?token=z', { headers })

    const [sent] = postern.upstream.requests
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect(sent?.values('Authorization')).toEqual([`Bearer ${admin}`])
    expect(sent?.values('Cookie')).toEqual([`jwt=${editor}`])
  })

  test('still refuses cookies of other sites, and changes nothing for other routes', async () => {
    const postern = await start(['cookie'])
    const crossSite = ['Sec-Fetch-Site: cross-site', `Cookie: jwt=${admin}`, 'Content-Length: 0']

    expect((await postern.call('POST /app/x', { headers: crossSite })).status).toBe(200)
    await postern.call('GET /other', {
      headers: ['Authorization: Bearer bad', `Cookie: jwt=${admin}`],
    })
    expect(postern.upstream.requests).toEqual([])
  })

  test.each([
    [`Authorization: Bearer ${foreign}`, false],
    [`Authorization: Bearer ${admin}`, true],
  ])('tells Envoy whether to remove it: %s', async (header, isRemoved) => {
    const postern = await start(['cookie'], {}, asked())
    const lines = [header, `Cookie: jwt=${editor}`]

    const { answers } = await sendRaw(
      postern.forwardAuthPort ?? 0,
      request('GET /auth/envoy/app/x', lines),
    )

    const removed = answers[0]?.header('X-Envoy-Auth-Headers-To-Remove')?.split(', ') ?? []
    expect(answers[0]?.status).toBe(200)
    expect(removed.includes('Authorization')).toBe(isRemoved)
  })
})
