import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { moduleFile } from '../support/login-modules.ts'
import {
  personLdif,
  serviceDn,
  servicePassword,
  slapdMissing,
  startSlapd,
  suffix,
} from '../support/slapd.ts'
import { cookieIn, startConsole, type TestConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

if (slapdMissing !== undefined) console.log(`skipped: logins with a directory; ${slapdMissing}`)

const consoleSettings = { port: 0, roles: { reader: ['viewer'], author: ['editor'] } }

async function logIn(target: TestConsole, body: object) {
  const answer = await target.call('POST login', { body })
  return { status: answer.status, cookie: cookieIn(answer), body: answer.body }
}

describe.skipIf(slapdMissing !== undefined)('people of an LDAP directory', () => {
  async function startWithDirectory() {
    const certificates = await createCertificates('127.0.0.1')
    onTestFinished(certificates.remove)
    const member = (cn: string) => [`memberOf: cn=${cn},ou=groups,${suffix}`]
    const people = [
      personLdif('anna', 'anna-secret', member('editors')),
      personLdif('otto', 'otto-secret', member('guests')),
      personLdif('gast', 'gast-secret'),
    ]
    const slapd = await startSlapd({ certificates, ldif: people.join('\n') })
    onTestFinished(slapd.stop)
    const ldap = {
      ...{ urls: [slapd.ldaps], caFile: certificates.authority, create: true, timeoutMs: 20_000 },
      ...{ bindDn: serviceDn, bindPassword: servicePassword },
      search: { base: suffix, filter: '(uid={username})' },
      groups: { attribute: 'memberOf' },
      roles: [
        { value: 'editors', role: 'editor' },
        { value: 'guests', role: 'guest' },
      ],
    }
    const target = await startConsole({
      ownDatabase: true,
      config: { login: { ldap }, console: consoleSettings },
    })
    return { target, slapd }
  }

  test('log in with the role of their group, confirm with their password, and survive an outage', async () => {
    const { target, slapd } = await startWithDirectory()
    expect((await target.call('GET providers')).json()).toMatchObject({ password: true })
    const anna = { username: 'anna', password: 'anna-secret' }
    expect((await logIn(target, { ...anna, password: 'wrong' })).status).toBe(400)
    const { status, cookie } = await logIn(target, anna)
    expect(status).toBe(200)
    expect((await target.call('GET session', { cookie })).json()).toMatchObject({
      ...{ username: 'anna', roleKey: 'editor', role: 'author', confirmBy: 'password' },
    })
    // A filter in a name must not find everyone.
    for (const username of ['*', 'an*', 'anna)(uid=*']) {
      expect([username, (await logIn(target, { ...anna, username })).status]).toEqual([
        ...[username, 400],
      ])
    }
    // Those without a role here, or with one that may not use the console.
    expect((await logIn(target, { username: 'otto', password: 'otto-secret' })).status).not.toBe(
      200,
    )
    expect((await logIn(target, { username: 'gast', password: 'gast-secret' })).status).not.toBe(
      200,
    )

    const confirm = (password: string) =>
      target.call('POST session/confirm', { cookie, body: { password } })
    expect((await confirm('otto-secret')).status).toBe(400)
    expect((await confirm('anna-secret')).status).toBe(200)

    await slapd.kill()
    const refused = await logIn(target, anna)
    expect([refused.status, refused.body]).toEqual([503, expect.stringContaining('"directory"')])
    expect((await confirm('anna-secret')).status).toBe(503)
    expect((await target.call('GET session', { cookie })).status).toBe(200)
    await slapd.start()
    await until(async () => (await logIn(target, anna)).status === 200)
    expect(target.logText()).not.toMatch(/anna-secret|reader-secret/)
  })
})

describe('people of a login module', () => {
  const accept = (fields: string, test: string) => `
    export const name = 'badge'
    export const fields = ${fields}
    export const verifyCredentials = (given) => (${test} ? { username: 'editor' } : undefined)`

  test('log in and confirm by the form if it asks for a name and a password', async () => {
    const module = moduleFile(
      accept('{ username: {}, password: {} }', "given.password === 'open-sesame'"),
    )
    const target = await startConsole({
      config: { login: { local: false, module }, console: consoleSettings },
    })
    expect((await target.call('GET providers')).json()).toMatchObject({ password: true })
    const good = { username: 'editor', password: 'open-sesame' }
    expect((await logIn(target, { ...good, password: 'wrong' })).status).toBe(400)
    const { status, cookie } = await logIn(target, good)
    expect(status).toBe(200)
    const confirm = (password: string) =>
      target.call('POST session/confirm', { cookie, body: { password } })
    expect((await confirm('wrong')).status).toBe(400)
    expect((await confirm('open-sesame')).status).toBe(200)
    expect(target.logText()).not.toContain('open-sesame')
  })

  test('with other fields log in over the API, and see no form that could not work', async () => {
    const module = moduleFile(accept('{ phone: {}, smsCode: {} }', "given.smsCode === '123456'"))
    const target = await startConsole({
      config: { login: { local: false, module }, console: consoleSettings },
    })
    expect((await target.call('GET providers')).json()).toMatchObject({ password: false })
    const { status } = await logIn(target, { phone: '1', smsCode: '123456' })
    expect(status).toBe(200)
    const password = target.passwords['editor']
    expect((await logIn(target, { username: 'editor', password })).status).toBe(400)
  })

  test('that fails get 503 with a reason, and the next login works', async () => {
    const module = moduleFile(`
      export const name = 'badge'
      export const fields = { username: {}, password: {} }
      export function verifyCredentials({ password }) {
        if (password === 'boom') throw new Error('badge.example is down')
        return { username: 'editor' }
      }`)
    const target = await startConsole({
      config: { login: { local: false, module }, console: consoleSettings },
    })
    const failed = await logIn(target, { username: 'editor', password: 'boom' })
    expect([failed.status, failed.body]).toEqual([503, expect.stringContaining('"login-module"')])
    expect(failed.body).not.toContain('badge.example')
    expect((await logIn(target, { username: 'editor', password: 'fine' })).status).toBe(200)
  })
})
