import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { runCommand } from '../support/run-command.ts'
import { testSecret } from '../support/tokens.ts'

const scratch = mkdtempSync(join(tmpdir(), 'postern-ldap-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const good = {
  urls: ['ldaps://dc1.example.com'],
  bindDn: 'cn=reader,dc=example,dc=com',
  bindPassword: 'reader-secret',
  search: { base: 'dc=example,dc=com' },
  groups: { attribute: 'memberOf' },
  roles: [{ value: 'staff', role: 'editor' }],
  create: true,
}

async function run(command: readonly string[], ldap: object, env: Record<string, string> = {}) {
  const settings = {
    application: { host: '127.0.0.1' },
    jwt: { secret: testSecret },
    policy: { directory: resolve('policies') },
  }
  writeFileSync(join(scratch, 'x.yaml'), stringify({ ...settings, login: { ldap } }))
  return runCommand([...command, 'x.yaml'], { cwd: scratch, env })
}

describe('the setting login.ldap', () => {
  test.each([
    good,
    { ...good, urls: ['ldap://dc1.example.com'], startTls: true },
    { ...good, urls: ['ldap://127.0.0.1:389', 'ldap://[::1]', 'ldap://localhost'] },
    { ...good, search: { base: 'dc=x', filter: '(|(uid={username})(mail={username}@x.example))' } },
    { ...good, groups: { base: 'dc=x', filter: '(memberUid={username})' } },
    { ...good, groups: { base: 'dc=x', filter: '(member:1.2.840.113556.1.4.1941:={dn})' } },
    { urls: good.urls, userDn: 'uid={username},dc=example,dc=com' },
    { urls: good.urls, userPrincipal: '{username}@corp.example', search: { base: 'dc=x' } },
    { urls: good.urls, userPrincipal: 'CORP\\{username}', search: { base: 'dc=x' } },
  ])('can be %j', async (ldap) => {
    expect(await run(['config', 'check'], ldap)).toMatchObject({ code: 0, err: '' })
  })

  test.each([
    [{ urls: [] }, 'urls: must have at least one entry'],
    [{ urls: ['http://dc1.example.com'] }, 'use a directory URL such as ldaps://'],
    [{ urls: ['ldap://dc1.example.com'] }, 'urls[0] would send passwords in plain text'],
    [{ urls: ['ldap://127.0.0.1.example.com'] }, 'urls[0] would send passwords in plain text'],
    [{ startTls: true }, 'urls[0]: ldaps:// has TLS already'],
    [
      { bindPassword: undefined },
      'bindPassword is required with bindDn: set POSTERN_LOGIN__LDAP__',
    ],
    [{ bindPassword: '' }, 'bindPassword'],
    [{ bindDn: undefined }, 'bindDn is required with bindPassword'],
    [{ bindDn: undefined, bindPassword: undefined }, 'bindDn is required with search'],
    [{ bindDn: 'EXTERNAL' }, 'bindDn: "EXTERNAL" is not a DN'],
    [{ search: undefined }, 'search is required: give its base, or set userDn'],
    [{ userDn: 'uid={username},dc=x' }, 'search is not used with userDn; remove one'],
    [{ search: undefined, userDn: '{username}' }, 'userDn must contain ={username}'],
    [{ search: undefined, userDn: 'uid={username}x,dc=x' }, 'userDn must contain ={username}'],
    [{ userPrincipal: '{username}' }, 'userPrincipal must be {username}@domain'],
    [
      { userPrincipal: '{username}@x', userDn: 'uid={username}', search: undefined },
      'userPrincipal and userDn cannot be combined',
    ],
    [{ search: { base: 'dc=x', filter: '(uid=anna)' } }, 'search.filter must compare {username}'],
    [{ search: { base: 'dc=x', filter: '(uid={username}*)' } }, 'search.filter must compare'],
    [{ search: { base: 'dc=x', filter: '(uid~={username})' } }, 'search.filter must compare'],
    [{ search: { base: 'dc=x', filter: '(&(uid={username})' } }, 'parentheses that do not match'],
    [{ groups: {} }, 'groups needs attribute, such as memberOf, or base'],
    [{ groups: undefined }, 'groups is required with roles'],
    [{ roles: undefined }, 'roles is required with create: a new account needs a role'],
    [{ groups: { attribute: 'memberOf', base: 'dc=x' } }, 'groups.base and attribute cannot'],
    [{ groups: { attribute: 'memberOf', nested: true } }, 'groups.nested needs base'],
    [{ groups: { base: 'dc=x', filter: '(cn=a)' } }, 'groups.filter must contain {dn}'],
    [{ groups: { base: 'dc=x', filter: '(a={username})', nested: true } }, 'must contain {dn}'],
    [{ attributes: { subjekt: 'x' } }, 'did you mean login.ldap.attributes.subject'],
  ])('is refused with %j', async (change, problem) => {
    const { code, err } = await run(['config', 'check'], { ...good, ...change })

    expect(code).toBe(3)
    expect(err).toContain(problem)
  })

  test('reports a file of certificates that cannot be read', async () => {
    const { code, err } = await run(['config', 'check'], { ...good, caFile: 'missing.pem' })

    expect(code).toBe(3)
    expect(err).toMatch(/login\.ldap\.caFile.*missing\.pem/)
  })

  test('takes its password from a file, and never prints it', async () => {
    writeFileSync(join(scratch, 'password'), 'from-a-file\n')
    const { bindPassword: _, ...rest } = good
    const env = { POSTERN_LOGIN__LDAP__BINDPASSWORD_FILE: join(scratch, 'password') }

    const { code, out } = await run(['config', 'print'], rest, env)

    expect(code).toBe(0)
    expect(out).toContain('bindPassword')
    expect(out).not.toContain('from-a-file')
  })
})
