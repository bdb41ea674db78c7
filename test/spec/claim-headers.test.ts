import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { askAbout, asked, contractNames } from '../support/forward-auth.ts'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { startPostern } from '../support/start-postern.ts'
import { claimsOf, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const line = 'GET /api/v1/public/a'
const claims = { groups: 'X-User-Groups', email: 'X-User-Email', '/a/b': 'X-User-Place' }

/** What the upstream got under these names with the newest call. */
function sentOf({ upstream }: { upstream: { requests: readonly Sent[] } }, names: string[]) {
  const [sent] = upstream.requests.slice(-1)
  return Object.fromEntries(names.map((name) => [name, sent?.values(name)]))
}

interface Sent {
  values(name: string): readonly string[]
}

describe('a header with a claim', () => {
  test.each([
    ['texts', ['staff', 'on call'], 'staff,on call'],
    ['a comma in a text', ['a,b', 'c'], 'a%2Cb,c'],
    ['other scripts and a percent sign', ['财务', '100%'], `${encodeURIComponent('财务')},100%25`],
    ['line breaks', ['a\r\nX-Role-Key: admin'], 'a%0D%0AX-Role-Key%3A%20admin'],
    ['an empty text', ['a', '', 'b'], 'a,,b'],
    ['one text', 'staff', 'staff'],
    ['numbers', [7, true], '7,true'],
    ['an object', { a: 1 }, ''],
    ['objects among texts', ['a', { b: 1 }, ['c'], null], 'a'],
    ['nothing', undefined, ''],
  ])('has one value that splits at commas: %s', async (_, groups, value) => {
    const postern = await startPostern({ config: { headers: { claims } } })

    await postern.call(line, { token: tokenOf('editor', { claims: { groups, email: 'a@b.c' } }) })

    expect(sentOf(postern, ['X-User-Groups', 'X-User-Email', 'X-User-Place'])).toEqual({
      'X-User-Groups': [value],
      'X-User-Email': ['a@b.c'],
      'X-User-Place': [''],
    })
    const decoded = value.split(',').map(decodeURIComponent)
    if (Array.isArray(groups) && groups.every((one) => typeof one === 'string')) {
      expect(decoded).toEqual(groups)
    }
  })

  test.each([undefined, null, 'text', [1], { groups: { a: [] } }, { __proto__: { groups: 'x' } }])(
    'is empty for a token that carries %j',
    async (carried) => {
      const postern = await startPostern({ config: { headers: { claims } } })

      const { status } = await postern.call(line, { token: tokenOf('editor', { claims: carried }) })

      expect(status).toBe(200)
      expect(sentOf(postern, ['X-User-Groups'])).toEqual({ 'X-User-Groups': [''] })
    },
  )

  test('is not there unless it is configured, whatever the token carries', async () => {
    const postern = await startPostern()

    await postern.call(line, { token: tokenOf('editor', { claims: { groups: ['staff'] } }) })

    expect(JSON.stringify(postern.upstream.requests[0]?.headers)).not.toContain('staff')
  })

  test('has the values of the token of another issuer, as far as they fit', async () => {
    const issuer = await startIssuer()
    const postern = await startPostern({
      issuers: [settingsOf(issuer)],
      config: { headers: { claims: { ...claims, about: 'X-User-About' }, claimBytes: 64 } },
    })
    await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz?verbose`)
      return (
        ((await answer.json()) as { issuers: { usable: boolean }[] }).issuers[0]?.usable === true
      )
    })
    const about = 'x'.repeat(64)
    const said = { groups: ['staff'], email: 'a@b.c', a: { b: 'Oslo' }, about }
    const names = ['X-User-Groups', 'X-User-Email', 'X-User-Place', 'X-User-About']

    await postern.call(line, { token: issuer.token(said) })
    expect(sentOf(postern, names)).toEqual({
      'X-User-Groups': ['staff'],
      // Anyone may have entered it there.
      'X-User-Email': [''],
      'X-User-Place': ['Oslo'],
      'X-User-About': [''],
    })
    await postern.call(line, { token: issuer.token({ ...said, email_verified: true }) })
    expect(sentOf(postern, names)).toMatchObject({ 'X-User-Email': ['a@b.c'] })

    expect(postern.logText()).toMatch(
      /"claim":"about","bytes":\d+,"whose":"sso:\S+","limit":64,"msg":"claim left out: over headers.claimBytes"/,
    )
    expect(postern.logText()).not.toContain(about)
    const metrics = await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)
    const text = await metrics.text()
    expect(text).toContain('postern_claims_left_out_total{claim="about"} 2')
    expect(text).toContain('postern_claims_left_out_total{claim="groups"} 0')
  })

  test('follows a reload of its name', async () => {
    const postern = await startPostern({ config: { headers: { claims } } })
    const token = tokenOf('editor', { claims: { groups: ['staff'] } })
    await postern.call(line, { token })

    const { config } = postern
    await postern.apply({
      ...config,
      headers: { ...config.headers, claims: { groups: 'X-Teams' } },
    })
    await postern.call(line, { token, headers: ['X_Teams: admins'] })

    const names = ['X-Teams', 'X-User-Groups', 'X_Teams']
    expect(sentOf(postern, names)).toEqual({
      'X-Teams': ['staff'],
      'X-User-Groups': [],
      X_Teams: [],
    })
  })

  test.each(contractNames)('is in the answer to %s', async (contract) => {
    const postern = await startPostern({
      config: asked({ headers: { claims, preset: 'authelia' } }),
    })

    const answer = await askAbout(postern, contract, line, { as: 'editor' })

    expect(answer.status).toBe(200)
    expect(answer.header('x-user-groups')).toBe('')
    expect(answer.header('remote-user')).toBe('editor-user')
  })
})

describe('a preset', () => {
  test.each([
    [
      'oauth2-proxy',
      {
        'X-Forwarded-User': ['editor-user'],
        'X-Forwarded-Preferred-Username': ['editor-user'],
        'X-Forwarded-Email': ['a@b.c'],
        'X-Forwarded-Groups': ['x,y'],
      },
    ],
    [
      'authelia',
      {
        'Remote-User': ['editor-user'],
        'Remote-Name': ['Ann Lee'],
        'Remote-Email': ['a@b.c'],
        'Remote-Groups': ['x,y'],
      },
    ],
  ])('sends the headers of %s beside our own', async (preset, headers) => {
    const postern = await startPostern({ config: { headers: { preset } } })
    const carried = { groups: ['x', 'y'], email: 'a@b.c', name: 'Ann Lee' }

    await postern.call(line, { token: tokenOf('editor', { claims: carried }) })

    expect(sentOf(postern, [...Object.keys(headers), 'X-User-Id'])).toEqual({
      ...headers,
      'X-User-Id': ['42'],
    })
  })
})

test('an assertion repeats the claims that it is configured for', async () => {
  const key = newKey()
  const { directory } = await mountKeys({ 'a.pem': key.privatePem })
  const postern = await startPostern({
    config: {
      jwt: { secret: undefined, keyDirectory: directory },
      identity: { assertion: { enabled: true, claims: ['groups', 'email', 'constructor'] } },
    },
  })
  const carried = { groups: ['a,b', 'ø'], department: 'sales' }
  const tokens = [claimsOf('editor', { claims: carried }), claimsOf('editor')].map((payload) =>
    signedBy(key, { kid: 'a' }, payload),
  )

  for (const token of tokens) await postern.call(line, { token })

  const asserted = postern.upstream.requests.map((sent) => {
    return decodeJwt(sent.values('X-Postern-Assertion')[0] ?? '')['claims']
  })
  expect(asserted).toEqual([{ groups: ['a,b', 'ø'] }, {}])
})
