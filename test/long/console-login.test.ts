import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import { startRedis } from '../support/redis-server.ts'
import { cookieIn, startConsole } from '../support/start-console.ts'
import { nowSeconds } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const url = 'http://127.0.0.1:25999'
const callback = `${url}/console/api/v1/login/oidc/corp/callback`

/** All cookies that an answer sets, as a browser sends them back. */
function cookiesIn({ headers }: RawAnswer): string {
  return headers
    .filter(([name]) => name === 'set-cookie')
    .map(([, value]) => value.split(';', 1)[0])
    .filter((pair) => !pair?.endsWith('='))
    .join('; ')
}

async function startWithProvider() {
  const provider = await startFakeProvider()
  const roles = [{ value: 'staff', role: 'editor' }]
  const oidc = [{ ...oidcSettings(provider.issuer), roles, create: true }]
  const console = await startConsole({
    ownDatabase: true,
    config: {
      login: { oidc },
      console: { port: 0, url, roles: { reader: ['editor'], publisher: ['admin'] } },
    },
  })
  const person = { sub: 'p-1', preferred_username: 'pat', groups: ['staff'] }
  /** A login as browsers do it: the last step comes from another site, without our Strict cookie. */
  async function visit(begin: string, claims: object = {}, cookie?: string) {
    const begun = await console.call(`GET ${begin}`, cookie === undefined ? {} : { cookie })
    expect([begin, begun.status]).toEqual([begin, 302])
    const address = new URL(begun.header('location') ?? '')
    const answer = new URLSearchParams(provider.approve(address, { ...person, ...claims }))
    const back = await console.call(`GET login/oidc/corp/callback?${answer}`, {
      cookie: cookiesIn(begun),
      headers: ['Sec-Fetch-Site: cross-site'],
    })
    return { address, back }
  }
  return { provider, console, visit }
}

describe('single sign-on at the console', () => {
  test('has a callback of its own, and confirms a change only if the provider asked again', async () => {
    const { console, visit } = await startWithProvider()
    expect((await console.call('GET providers')).json()).toMatchObject({
      providers: [{ name: 'corp', url: '/console/api/v1/login/oidc/corp' }],
    })
    const { address, back } = await visit('login/oidc/corp?to=%23/who')
    expect(address.searchParams.get('redirect_uri')).toBe(callback)
    expect(address.searchParams.get('prompt')).toBeNull()
    expect([back.status, back.body]).toEqual([200, expect.stringContaining('/console/#/who')])
    const cookie = cookiesIn(back)
    const session = await console.call('GET session', { cookie })
    expect(session.json()).toMatchObject({
      ...{ username: 'pat', role: 'reader', confirmBy: 'provider', confirmedUntil: null },
    })
    expect((await console.call('POST probe/write', { cookie })).status).toBe(403)

    const confirm = 'login/oidc/corp?confirm'
    const again = await visit(confirm, { auth_time: nowSeconds() }, cookie)
    expect(again.address.searchParams.get('prompt')).toBe('login')
    expect(again.address.searchParams.get('max_age')).toBe('0')
    const confirmed = cookiesIn(again.back)
    expect((await console.call('POST probe/write', { cookie: confirmed })).status).toBe(200)
    const { id } = (await console.call('GET session', { cookie: confirmed })).json() as {
      id: string
    }
    expect(session.json()).toMatchObject({ id })

    // A provider that ignores the question, and another person at the same browser.
    for (const claims of [
      {},
      { auth_time: nowSeconds() - 3600 },
      { auth_time: nowSeconds(), sub: 'p-2', preferred_username: 'quinn' },
    ]) {
      const { back: refused } = await visit(confirm, claims, cookie)
      expect([claims, cookiesIn(refused)]).toEqual([claims, ''])
      expect(refused.body).toMatch(/\/console\/\?error=(?:provider-refused|wrong-credentials)/)
    }
    expect((await console.call(`GET ${confirm}`)).status).toBe(401)
  })

  test('finishes no login that this browser did not begin, and leads to no other site', async () => {
    const { provider, console, visit } = await startWithProvider()
    const begun = await console.call('GET login/oidc/corp')
    const address = new URL(begun.header('location') ?? '')
    const person = { sub: 'p-1', preferred_username: 'pat', groups: ['staff'] }
    const answer = new URLSearchParams(provider.approve(address, person))
    const stolen = await console.call(`GET login/oidc/corp/callback?${answer}`)
    expect([cookiesIn(stolen), stolen.body]).toEqual(['', expect.stringContaining('login-expired')])

    for (const to of ['https://evil.example', '//evil.example', '/%23', '%23"><script>']) {
      const { back } = await visit(`login/oidc/corp?to=${encodeURIComponent(to)}`)
      expect(back.body).not.toMatch(/evil|<script/)
    }
    // A provider that does not answer is a line on the login page, not a document of errors.
    await provider.stop()
    const down = await console.call(`GET login/oidc/corp/callback?${answer}`, {
      cookie: cookiesIn(begun),
    })
    expect([down.status, down.body]).toEqual([
      200,
      expect.stringMatching(/\/console\/\?error=(?:identity-provider|provider-refused)/),
    ])
    // A code in a form would count as a password that was entered.
    const body = { provider: 'corp', state: 'x', code: 'y' }
    expect((await console.call('POST login', { body })).status).toBe(400)
  })
})

test('the console asks for a one-time code with 428, at the login and for a confirmation', async () => {
  const console = await startConsole({ ownDatabase: true })
  const enrolled = await console.postern('user totp admin --no-confirm --output json')
  expect(enrolled.code).toBe(0)
  const { recoveryCodes } = JSON.parse(enrolled.out) as { recoveryCodes: string[] }
  const account = { username: 'admin', password: console.passwords['admin'] }

  const asked = await console.call('POST login', { body: account })
  expect([asked.status, asked.body]).toEqual([428, expect.stringContaining('otp-needed')])
  const wrong = await console.call('POST login', { body: { ...account, otp: '000000' } })
  expect(wrong.status).toBe(400)
  const login = await console.call('POST login', { body: { ...account, otp: recoveryCodes[0] } })
  expect(login.status).toBe(200)

  const cookie = cookieIn(login)
  const confirm = (body: object) => console.call('POST session/confirm', { cookie, body })
  expect((await confirm({ password: account.password })).status).toBe(428)
  const used = await confirm({ password: account.password, otp: recoveryCodes[0] })
  expect(used.status).toBe(400)
  const good = await confirm({ password: account.password, otp: recoveryCodes[1] })
  expect(good.status).toBe(200)
})

test('the console stays up without Redis, says what is missing, and recovers', async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const console = await startConsole({
    config: { redis: { url: redis.url }, revocation: { maxAgeMs: 1000, whenStale: 'refuse' } },
  })
  const cookie = await console.logIn()
  const session = () => console.call('GET session', { cookie })
  expect((await session()).status).toBe(200)

  await redis.kill()
  await until(async () => (await session()).status === 503)
  expect((await session()).json()).toMatchObject({ ok: false, errors: [{ kind: 'revocations' }] })
  expect((await console.call('GET probe/reader', { cookie })).status).toBe(503)
  expect((await console.call('GET /console/')).status).toBe(200)
  // An outage must not look like the end of a session.
  expect((await session()).header('set-cookie')).toBeUndefined()

  await redis.start()
  await until(async () => (await session()).status === 200)
})

test('over TLS has a cookie that no sibling host can set', async () => {
  const { certificate: certFile, key: keyFile, remove } = await createCertificates()
  onTestFinished(remove)
  const console = await startConsole({
    config: { console: { port: 0, host: '127.0.0.1', tls: { certFile, keyFile } } },
  })
  expect(console.address).toMatch(/^https:/)
  const body = JSON.stringify({ username: 'admin', password: console.passwords['admin'] })
  const { stdout: sent } = await promisify(execFile)('curl', [
    ...['-sik', `https://127.0.0.1:${console.port}/console/api/v1/login`],
    ...['-H', 'Content-Type: application/json', '-d', body],
  ])
  expect(sent).toMatch(
    /set-cookie: __Host-postern-console=[\w.-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure\r/i,
  )
})
