import { describe, expect, test } from 'vitest'
import { startPostern } from '../support/start-postern.ts'

/** The test's own address, and a network of proxies before it. */
const trusted = { application: { trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] } }

async function forwardedOf(
  headers: readonly string[],
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>> = trusted,
): Promise<Readonly<Record<string, readonly string[] | undefined>>> {
  const postern = await startPostern({ config })
  await postern.call('GET /api/v1/public/a', { as: 'editor', headers })
  const [sent] = postern.upstream.requests
  const names = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Request-Id']
  return Object.fromEntries(names.map((name) => [name, sent?.values(name)]))
}

describe('behind a trusted proxy', () => {
  test.each([
    ['the client that it names', '9.9.9.9', '9.9.9.9, 127.0.0.1'],
    ['the last that is not trusted', '1.1.1.1, 9.9.9.9, 10.1.2.3', '9.9.9.9, 10.1.2.3, 127.0.0.1'],
    ['one with a port', '9.9.9.9:4711', '9.9.9.9, 127.0.0.1'],
    ['one of IPv6', '1.1.1.1, [2001:db8::7]:4711', '2001:db8::7, 127.0.0.1'],
    ['one behind a proxy of IPv6', '9.9.9.9, fd00::1', '9.9.9.9, fd00::1, 127.0.0.1'],
    ['one of IPv4 in IPv6', '::ffff:9.9.9.9', '9.9.9.9, 127.0.0.1'],
    ['one of IPv4 in IPv6 digits', '1.1.1.1, ::ffff:909:909', '::ffff:909:909, 127.0.0.1'],
    ['the proxy itself when the next is no address', '9.9.9.9, unknown', '127.0.0.1'],
    ['the proxy itself when it says nothing', '', '127.0.0.1'],
    ['the outermost when all are trusted', '10.1.1.1, 10.2.2.2', '10.1.1.1, 10.2.2.2, 127.0.0.1'],
  ])('the client is %s', async (_, given, chain) => {
    const sent = await forwardedOf([`X-Forwarded-For: ${given}`])

    expect(sent['X-Forwarded-For']).toEqual([chain])
  })

  test('several lines of X-Forwarded-For are one list', async () => {
    const sent = await forwardedOf(['X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 9.9.9.9'])

    expect(sent['X-Forwarded-For']).toEqual(['9.9.9.9, 127.0.0.1'])
  })

  test('scheme, host and request ID are what the nearest proxy says', async () => {
    const sent = await forwardedOf([
      'X-Forwarded-Proto: http, https',
      'X-Forwarded-Host: evil, shop.example:8443',
      'X-Request-Id: 4bf92f35.77b3-4d_a6',
    ])

    expect(sent).toMatchObject({
      'X-Forwarded-Proto': ['https'],
      'X-Forwarded-Host': ['shop.example:8443'],
      'X-Request-Id': ['4bf92f35.77b3-4d_a6'],
    })
  })

  test.each([
    ['X-Forwarded-Proto: javascript', 'X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Host: evil/path', 'X-Forwarded-Host', 'gateway.test'],
    ['X-Forwarded-Host: a b', 'X-Forwarded-Host', 'gateway.test'],
  ])('%s is not believed even of it', async (header, name, value) => {
    const sent = await forwardedOf([header])

    expect(sent[name]).toEqual([value])
  })

  test.each(['', 'a b', `${'x'.repeat(129)}`, '{"a":1}', 'a,b'])(
    'a request ID that is none is replaced: %j',
    async (id) => {
      const sent = await forwardedOf([`X-Request-Id: ${id}`])

      expect(sent['X-Request-Id']?.[0]).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test('limits and the log count the client, not the proxy', async () => {
    const postern = await startPostern({
      config: { ...trusted, login: { captchaPerAddressPerMinute: 2 } },
    })
    const ask = async (address: string) => {
      const answer = await postern.call('GET /api/v1/getCaptcha', {
        headers: [`X-Forwarded-For: ${address}`],
      })
      return (answer.json() as { code: number }).code
    }

    expect([await ask('9.9.9.9'), await ask('9.9.9.9'), await ask('9.9.9.9')]).toEqual([
      200, 200, 429,
    ])
    expect(await ask('8.8.8.8')).toBe(200)
    expect(postern.logText()).toContain('"client":"9.9.9.9"')
  })
})

describe('from anybody else', () => {
  test.each([
    ['when no proxy is trusted', {}],
    ['when another one is', { application: { trustedProxies: ['10.0.0.0/8', '127.0.0.2'] } }],
  ])('nothing about the origin is believed %s', async (_, config) => {
    const sent = await forwardedOf(
      [
        'X-Forwarded-For: 9.9.9.9',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: evil',
        'X-Request-Id: chosen-by-client',
      ],
      config,
    )

    expect(sent).toEqual({
      'X-Forwarded-For': ['127.0.0.1'],
      'X-Forwarded-Proto': ['http'],
      'X-Forwarded-Host': ['gateway.test'],
      'X-Request-Id': [expect.stringMatching(/^[0-9a-f-]{36}$/)],
    })
  })
})
