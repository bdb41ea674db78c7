import { expect, test } from 'vitest'
import { redacted, secretsIn } from '../../src/config/secrets.ts'
import { Invalid } from '../../src/kernel/errors.ts'
import { createSealing } from '../../src/token/sealing.ts'
import { oidcSettings } from '../support/fake-provider.ts'
import { readTestConfig } from '../support/test-config.ts'

type Settings = Readonly<Record<string, unknown>>

const good = (more: Settings = {}) => oidcSettings('https://sso.example.com', more)

function problemsOf(...oidc: readonly Settings[]): readonly string[] {
  try {
    readTestConfig({ login: { oidc } })
    return []
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems.map(({ message }) => message)
  }
}

test.each<[string, Settings, string]>([
  ['plain http', { issuer: 'http://sso.example.com' }, '.issuer must use https://'],
  [
    'another callback',
    { redirectUri: 'https://a.example/x' },
    '.redirectUri must end with /api/v1',
  ],
  ['a query', { appRedirectUris: ['https://a.example/?x=1'] }, 'must not contain a query'],
  ['a fragment', { appRedirectUris: ['https://a.example/#x'] }, 'must not contain a fragment'],
  ['a plain application', { appRedirectUris: ['http://a.example/'] }, 'must use https://'],
  ['no secret', { clientSecret: undefined }, '.clientSecretFile is required'],
  ['two secrets', { clientSecretFile: 'x' }, 'and clientSecretFile cannot be combined'],
  ['a secret that is not sent', { clientAuth: 'none' }, '.clientAuth is "none"'],
  ['no openid', { scopes: ['profile'] }, '.scopes must contain openid'],
  ['new accounts without a role', { roles: undefined }, '.create is true, so roles is required'],
  ['a name of another method', { name: 'password' }, 'already the name of the login by password'],
  ['a name with a slash', { name: 'a/b' }, 'lower-case letters, digits and hyphens'],
  ['a shared secret', { idTokenAlgorithm: 'HS256' }, 'idTokenAlgorithm'],
  [
    'a page after a logout that does not happen',
    { logout: { postLogoutRedirectUri: 'https://a.example/' } },
    'only used with logout.endSession',
  ],
])('a provider with %s is refused', (_, settings, message) => {
  expect(problemsOf(good(settings)).join('\n')).toContain(message)
})

test('two providers need two names, and a good one has no problem', () => {
  expect(problemsOf(good())).toEqual([])
  expect(problemsOf(good(), good()).join('\n')).toContain('is already the name of login.oidc[0]')
  expect(problemsOf(good(), good({ name: 'other' }))).toEqual([])
})

test('the client secret is hidden wherever the configuration is shown', () => {
  const config = readTestConfig({ login: { oidc: [good()] } })

  expect(JSON.stringify(redacted(config))).not.toContain('a-secret-of-the-client')
  expect(secretsIn(config)).toContain('a-secret-of-the-client')
})

test('what is sealed opens only with its key and its purpose, and unchanged', async () => {
  const key = (text: string) => Buffer.from(text.repeat(32)).toString('base64url')
  const keys = (id: string, text: string) => ({
    current: () => ({ id, key: key(text) }),
    find: (wanted: string) => (wanted === id ? key(text) : undefined),
  })
  const sealing = createSealing(keys('k1', 'a'))
  const sealed = await sealing.seal({ state: 's' })

  expect(await sealing.open(sealed)).toEqual({ state: 's' })
  expect(sealed).not.toContain(Buffer.from('"state"').toString('base64url').slice(0, 8))
  expect(await createSealing(keys('k1', 'b')).open(sealed)).toBeUndefined()
  expect(await createSealing(keys('k2', 'a')).open(sealed)).toBeUndefined()
  const parts = sealed.split('.')
  for (const at of [0, 2, 3, 4]) {
    const changed = parts.with(at, `${parts[at]?.slice(0, -4)}AAAA`).join('.')
    expect(await sealing.open(changed), String(at)).toBeUndefined()
  }
  for (const text of ['', 'x', '....', `${sealed}.`, 'x'.repeat(100_000)]) {
    expect(await sealing.open(text)).toBeUndefined()
  }
})
