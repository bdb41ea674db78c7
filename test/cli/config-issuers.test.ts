import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { configuredIssuers } from '../../src/config/issuers.ts'
import { runCommand } from '../support/run-command.ts'
import { readTestConfig } from '../support/test-config.ts'
import { testSecret } from '../support/tokens.ts'

const scratch = mkdtempSync(join(tmpdir(), 'postern-issuers-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const good = {
  issuer: 'https://sso.example.com/realms/shop',
  audience: 'postern',
  jwksUri: 'https://sso.example.com/realms/shop/keys',
  claims: { roleKey: '/realm_access/roles' },
  roles: [{ value: 'shop-editor', role: 'editor' }],
}

async function check(...issuers: readonly object[]) {
  const settings = {
    application: { host: '127.0.0.1' },
    jwt: { secret: testSecret },
    policy: { directory: resolve('policies') },
  }
  writeFileSync(join(scratch, 'x.yaml'), stringify({ ...settings, issuers }))
  const { code, err } = await runCommand(['config', 'check', 'x.yaml'], { cwd: scratch })
  return { code, problems: err.split('\n').filter((line) => line !== '') }
}

describe('the setting issuers', () => {
  test('needs an issuer, an audience, a source of keys, the claim of the role, and roles', async () => {
    expect(await check(good)).toEqual({ code: 0, problems: [] })

    const { code, problems } = await check({})

    expect(code).toBe(3)
    expect(problems.join('\n')).toMatch(/issuers\[0\]\.issuer is required/)
    expect(problems.join('\n')).toMatch(/issuers\[0\]\.audience is required/)
    expect(problems.join('\n')).toMatch(/issuers\[0\]\.jwksUri is required: give the URL/)
    expect(problems.join('\n')).toMatch(/issuers\[0\]\.claims is required/)
    expect(problems.join('\n')).toMatch(/issuers\[0\]\.roles is required/)
  })

  test.each([
    [
      { jwksUri: undefined },
      /jwksUri is required: give the URL of the public keys, or set discovery/,
    ],
    [{ discovery: true }, /discovery and jwksUri cannot be combined; keep one/],
    [{ jwksUri: 'http://sso.example.com/keys' }, /jwksUri must use https:\/\//],
    [{ jwksUri: 'https://u:p@sso.example.com/' }, /jwksUri must not contain a user name/],
    [{ jwksUri: 'keys' }, /jwksUri is not a URL/],
    [
      { jwksUri: undefined, discovery: true, issuer: 'http://sso.example.com' },
      /issuer must use https/,
    ],
    [{ algorithms: ['HS256'] }, /algorithms\[0\]: must be one of RS256/],
    [{ algorithms: ['none'] }, /algorithms\[0\]: must be one of/],
    [{ algorithms: [] }, /algorithms: must have at least one entry/],
    [{ audience: '' }, /audience/],
    [{ audience: [] }, /audience: must have at least one entry/],
    [{ audience: { a: 1 } }, /audience: must be .*, not a mapping/],
    [{ claims: {} }, /claims\.roleKey is required/],
    [
      { claims: { roleKey: '/a//b' } },
      /claims\.roleKey: "\/a\/\/b" is not valid; use the name of a claim/,
    ],
    [{ claims: { roleKey: 'r', rolekey: 'r' } }, /did you mean issuers\[0\]\.claims\.roleKey/],
    [{ roles: [] }, /roles: must have at least one entry/],
    [{ roles: [{ role: 'editor' }] }, /roles\[0\]\.value is required/],
    [
      { roles: [{ value: 'a' }, { value: 'a' }] },
      /roles\[1\]\.value: "a" is already that of roles\[0\]/,
    ],
    [{ roles: [{ value: 'a', dataScope: 'selv' }] }, /did you mean self\?/],
    [{ roles: [{ value: 'a', dataScope: 6 }] }, /dataScope: must be one of all/],
    [{ userIdPrefix: '1' }, /userIdPrefix: "1" is not valid; use .*no digit at the end/],
    [{ issuer: 'kubernetes/serviceaccount' }, /name is required, because the issuer is not a URL/],
    [{ name: 'My SSO' }, /name: "My SSO" is not valid; use lower-case letters/],
    [{ refreshSeconds: 10 }, /refreshSeconds: 10 is less than cooldownSeconds \(30\)/],
    [{ maxKeyAgeSeconds: 300 }, /maxKeyAgeSeconds: 300 is less than twice refreshSeconds/],
    [{ caFile: 'missing.pem' }, /issuers\[0\]\.caFile: .*missing\.pem cannot be read \(ENOENT\)/],
    [{ tokenFile: 'missing' }, /issuers\[0\]\.tokenFile: .*missing cannot be read \(ENOENT\)/],
  ])('explains %j in one line', async (change, line) => {
    const { code, problems } = await check({ ...good, ...change })

    expect(code).toBe(3)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(line)
  })

  test('refuses the same issuer twice, and the same name', async () => {
    const realm = { ...good, issuer: 'https://sso.example.com/realms/other' }

    expect((await check(good, structuredClone(good))).problems).toEqual([
      expect.stringMatching(/issuers\[1\]\.issuer: "https.*shop" is already that of issuers\[0\]/),
    ])
    expect((await check(good, structuredClone(realm))).problems).toEqual([
      expect.stringMatching(/issuers\[1\]\.name: "sso\.example\.com" is already the name of/),
    ])
    expect((await check(good, { ...structuredClone(realm), name: 'other' })).code).toBe(0)
  })

  test('refuses user ID prefixes under which users of two issuers could have one ID', async () => {
    const [one, other] = [structuredClone(good), structuredClone(good)]
    const second = { ...other, issuer: 'https://b.example.com', name: 'b' }
    const both = (first: string, prefix?: string) =>
      check({ ...one, userIdPrefix: first }, { ...second, ...(prefix && { userIdPrefix: prefix }) })

    for (const problems of [
      (await both('a-', 'a-b-')).problems,
      (await both('a-b-', 'a-')).problems,
      (await both('b:c:')).problems,
    ]) {
      expect(problems).toEqual([
        expect.stringMatching(
          /issuers\[1\]\.userIdPrefix: .* of issuers\[0\] give two users one ID/,
        ),
      ])
    }
    for (const [first, prefix] of [['b:'], ['a-', 'b-'], ['']] as const) {
      expect((await both(first, prefix)).code, first).toBe(0)
    }
  })

  test('fills in what depends on other settings', () => {
    const { issuers } = readTestConfig({
      issuers: [
        {
          ...good,
          roles: [
            { value: 'editor', dataScope: 'all' },
            { value: 'b', dataScope: 3 },
          ],
        },
        {
          ...structuredClone(good),
          issuer: 'x',
          name: 'k8s',
          audience: ['a', 'b'],
          userIdPrefix: '',
        },
      ],
    })

    expect(configuredIssuers(issuers)).toMatchObject([
      {
        ...{ name: 'sso.example.com', userIdPrefix: 'sso.example.com:', audience: ['postern'] },
        ...{ algorithms: ['RS256', 'ES256'], maxLifetimeSeconds: 86_400 },
        claims: { userId: 'sub' },
        roles: [
          { value: 'editor', role: 'editor', dataScope: '1' },
          { value: 'b', role: 'b', dataScope: '3' },
        ],
      },
      { name: 'k8s', userIdPrefix: '', audience: ['a', 'b'] },
    ])
  })

  test('is empty by default', () => {
    expect(readTestConfig({}).issuers).toEqual([])
  })

  test.each(['http://localhost:8080/keys', 'http://127.0.0.1/keys', 'http://[::1]:1/keys'])(
    'allows %s, which is on this machine',
    async (jwksUri) => {
      expect((await check({ ...good, jwksUri })).code).toBe(0)
    },
  )

  test.each([
    ['the same', {}, true],
    ['the same among others', { audience: ['shop-api', 'postern'] }, true],
    ['another', { audience: 'shop-api' }, false],
    ['the same at another issuer', { issuer: 'https://sso.example.com/realms/other' }, false],
  ])('is warned about if a login has the audience as client: %s', async (_, changes, isWarned) => {
    const oidc = {
      ...{ name: 'corp', issuer: good.issuer, clientId: 'postern', clientSecret: 'of-the-client' },
      redirectUri: 'https://app.example.com/api/v1/login/oidc/corp/callback',
    }

    const settings = { jwt: { secret: testSecret }, policy: { directory: resolve('policies') } }
    const issuers = [{ ...good, ...changes }]
    writeFileSync(
      join(scratch, 'y.yaml'),
      stringify({ ...settings, issuers, login: { oidc: [oidc] } }),
    )
    const { code, err } = await runCommand(['config', 'check', 'y.yaml'], { cwd: scratch })

    expect(code).toBe(0)
    const warning = 'issuers[0].audience: "postern" is also login.oidc[0].clientId'
    expect(err.includes(warning)).toBe(isWarned)
  })
})
