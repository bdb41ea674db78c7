import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { remotePostern } from '../support/remote-postern.ts'
import { startConsole } from '../support/start-console.ts'

/** What a person types, answer after answer. */
function typing(...answers: readonly string[]) {
  const left = [...answers]
  return async () => left.shift()
}

describe('a console with TLS', () => {
  test('is trusted by the authority that --ca-file names, and by that alone', async () => {
    const certificates = await createCertificates('localhost')
    const others = await createCertificates('localhost')
    onTestFinished(certificates.remove)
    onTestFinished(others.remove)
    const { certificate: certFile, key: keyFile, authority } = certificates
    const target = await startConsole({
      isWhole: true,
      config: { console: { port: 0, tls: { certFile, keyFile } } },
    })
    const { state, run } = await remotePostern(`https://localhost:${target.port}`)
    const stdin = `${target.passwords['admin']}\n`
    const login = ['gateway', 'login', '--user', 'admin', '--password-stdin']

    for (const trusted of [[], ['--ca-file', others.authority]]) {
      const refused = await run([...login, ...trusted], { stdin })
      expect([refused.code, refused.out]).toEqual([5, ''])
      expect(refused.err).toMatch(/its certificate is not trusted \(\w+\): give its authority/)
    }
    const byAddress = await run([
      ...[...login, '--gateway', `https://127.0.0.1:${target.port}`, '--ca-file', authority],
    ])
    expect([byAddress.code, byAddress.err]).toEqual([
      5,
      expect.stringContaining('not trusted (ERR_TLS_CERT_ALTNAME_INVALID)'),
    ])
    const unencrypted = await run([...login, '--gateway', `http://localhost:${target.port}`])
    expect([unencrypted.code, unencrypted.err]).toEqual([
      5,
      expect.stringMatching(/did not answer/),
    ])
    const missing = await run([...login, '--ca-file', 'no-such.pem'], { cwd: state })
    expect([missing.code, missing.err]).toEqual([
      ...[3, expect.stringContaining('no-such.pem: cannot be read (ENOENT)')],
    ])

    const trusted = ['--ca-file', authority]
    expect(await run([...login, ...trusted], { stdin })).toMatchObject({ code: 0, err: '' })
    const listed = await run(['user', 'list', '--output', 'json', ...trusted])
    expect([listed.code, listed.err]).toEqual([0, ''])
    expect(JSON.parse(listed.out)).toContainEqual(expect.objectContaining({ username: 'admin' }))
    expect((await run(['user', 'list'])).err).toContain('not trusted')
  })
})

describe('an account with one-time codes', () => {
  test('is asked for one at a terminal, and elsewhere told to use one', async () => {
    const target = await startConsole({ isWhole: true, ownDatabase: true })
    const enrolled = await target.postern('user totp admin --no-confirm --output json')
    expect([enrolled.code, enrolled.err]).toEqual([0, expect.anything()])
    const [code = ''] = JSON.parse(enrolled.out).recoveryCodes
    const remote = await remotePostern(`http://127.0.0.1:${target.port}`)
    const password = target.passwords['admin'] ?? ''

    const piped = await remote.logIn('admin', password)
    expect([piped.code, piped.err]).toEqual([5, expect.stringContaining('log in at a terminal')])

    const login = ['gateway', 'login', '--user', 'admin']
    const wrong = await remote.run(login, { types: typing(password, '000000') })
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('refused')])
    const right = await remote.run(login, { types: typing(password, code) })
    expect([right.code, right.err]).toEqual([0, 'Password of admin: One-time code: '])
    expect(right.out).toContain('as admin (publisher)')
    expect(target.logText()).not.toContain(code)
    expect(await remote.run(['user', 'list'])).toMatchObject({ code: 0 })
  })
})
