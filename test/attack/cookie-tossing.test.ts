import { describe, expect, test } from 'vitest'
import { expectUnauthenticated } from '../support/outcomes.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const victim = tokenOf('editor')
const attacker = tokenOf('admin', { identity: 1 })
const browser = 'Sec-Fetch-Site: none'

/**
 * What a browser sends after a host of the same domain has set cookies for the whole domain. Order says
 * nothing: a longer path or an older cookie comes first (RFC 6265 5.4).
 */
const tossed: readonly (readonly [string, string])[] = [
  ['one beside ours', `NAME=${victim}; NAME=${attacker}`],
  ['one before ours, with a longer path', `NAME=${attacker}; NAME=${victim}`],
  ['many beside ours', `NAME=${attacker}; NAME=${attacker}2; NAME=${victim}`],
  ['one in another Cookie header', `NAME=${victim}\r\nCookie: NAME=${attacker}`],
  ['one that is not a token', `NAME=x; NAME=${victim}`],
  ['one with spaces around it', `NAME=${victim};  NAME=${attacker} `],
]

const settings = {
  jwt: {},
  '__Host-jwt': { prefix: true },
  '__Secure-jwt': { domain: 'example.com' },
} as const
const names = Object.keys(settings) as (keyof typeof settings)[]

describe.each(names)('with the cookie %s, a sibling host that sets', (name) => {
  const start = () => startPostern({ config: { cookie: { set: true, ...settings[name] } } })
  const get = 'GET /api/v1/public/a'

  test.each(tossed)('the same name, %s, acts as nobody', async (_, cookies) => {
    const postern = await start()
    const headers = [`Cookie: ${cookies.replaceAll('NAME', name)}`, browser]
    expectUnauthenticated(await postern.call(get, { headers }), postern.upstream)
  })

  test('an empty one changes nothing, and services see none of them', async () => {
    const postern = await start()
    const headers = [`Cookie: ${name}=; ${name}=${victim}; a=b`, browser]
    expect((await postern.call(get, { headers })).json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('cookie')).toEqual(['a=b'])
  })

  const others = [
    ...names,
    'JWT',
    '__host-jwt',
    '__Host-Jwt',
    '__Http-jwt',
    'xjwt',
    'jwt2',
    '"jwt"',
  ]
  test.each(others.filter((each) => each !== name))(
    'a cookie %s changes nothing for a browser',
    async (other) => {
      const postern = await start()
      const both = [`Cookie: ${other}=${attacker}; ${name}=${victim}`, browser]
      expect((await postern.call(get, { headers: both })).json()).toEqual({ ok: true })
      expect(postern.upstream.requests[0]?.values('x-role-key')).toEqual(['editor'])

      const alone = [`Cookie: ${other}=${attacker}`, browser]
      const refused = await postern.call(get, { headers: alone })
      expect(refused.json()).toMatchObject({ code: 401 })
      expect(postern.upstream.requests).toHaveLength(1)
    },
  )
})

describe.each(['__Host-jwt', '__Secure-jwt'] as const)('with the cookie %s', (name) => {
  test('a program may still send jwt, as the specification says', async () => {
    const postern = await startPostern({ config: { cookie: { set: true, ...settings[name] } } })
    const ask = (cookies: string) =>
      postern.call('GET /api/v1/public/a', { headers: [`Cookie: ${cookies}`] })

    expect((await ask(`jwt=${victim}`)).json()).toEqual({ ok: true })
    expect((await ask(`jwt=${attacker}; ${name}=${victim}`)).json()).toEqual({ ok: true })
    expect(postern.upstream.requests.map((one) => one.values('x-role-key'))).toEqual([
      ['editor'],
      ['editor'],
    ])
    expect((await ask(`jwt=${victim}; jwt=${attacker}`)).json()).toMatchObject({ code: 401 })
  })

  test('a service with a cookie jwt of its own gets it, and none of ours', async () => {
    const postern = await startPostern({
      config: { cookie: { set: true, ...settings[name] } },
      routes: [{ path: '/', upstream: 'backend', carriers: ['header'] }],
    })
    const headers = (cookie: string) => [`Authorization: Bearer ${victim}`, `Cookie: ${cookie}`]
    await postern.call('GET /api/v1/public/a', { headers: headers('jwt=own') })
    await postern.call('GET /api/v1/public/a', { headers: headers(`${name}=${victim}; a=b`) })
    expect(postern.upstream.requests.map((one) => one.values('cookie'))).toEqual([
      ['jwt=own'],
      ['a=b'],
    ])
  })
})
