import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { postLogin } from '../support/log-in.ts'
import { loginLogRows } from '../support/login-log-rows.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'

const module = resolve('samples/login-sms/sms-login.mjs')

interface SmsService {
  readonly sent: readonly string[]
  lastCode(): string
  stop(): Promise<void>
}

/** The service of the sample, on a free port. */
async function startSmsService(): Promise<SmsService> {
  const sample = resolve('samples/login-sms/sms-service.mjs')
  const { createSmsService } = await import(/* @vite-ignore */ sample)
  const sent: string[] = []
  const server = createSmsService({
    key: 'test-key',
    send: (_: string, text: string) => sent.push(text),
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  process.env['SMS_SERVICE_URL'] = `http://127.0.0.1:${port}`
  process.env['SMS_SERVICE_KEY'] = 'test-key'
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  onTestFinished(stop)
  return { sent, stop, lastCode: () => /\d{6}/.exec(sent.at(-1) ?? '')?.[0] ?? '' }
}

async function start(login: Readonly<Record<string, unknown>> = {}) {
  const sms = await startSmsService()
  const postern = await startPostern({
    // Accounts that a login creates must not reach the database that tests share.
    ownDatabase: login['moduleAccounts'] === undefined,
    config: {
      login: { module, moduleAccounts: { create: true }, ...login },
    },
  })
  return { sms, postern }
}

/** A login with a captcha that a person has just solved. */
async function attempt(postern: TestPostern, fields: Readonly<Record<string, unknown>>) {
  const captcha = await takeCaptcha(postern)
  const answer = await postLogin(postern, { provider: 'sms', ...captcha, ...fields })
  return {
    status: answer.status,
    ...(answer.json() as { code: number; msg?: string; token?: string }),
  }
}

const phone = '+1 555-0100'
const creatingNone = { moduleAccounts: { create: false } }
const needed = { status: 200, code: 428, msg: 'a one-time code is needed' }
const wrong = { status: 200, code: 400, msg: 'incorrect username or password' }

describe('the sample login-sms', () => {
  test('logs a user in with a code, in two steps, and creates the account', async () => {
    const { sms, postern } = await start()

    expect(await attempt(postern, { phone })).toEqual(needed)
    const { token = '' } = await attempt(postern, { phone, smsCode: sms.lastCode() })
    const profile = await postern.call('GET /api/v1/user/profile', { token })
    await postern.call('GET /api/v1/public/a', { token })

    expect(sms.sent).toHaveLength(1)
    expect(JSON.stringify(profile.json())).toContain('sms-ann')
    expect(postern.upstream.requests.map((one) => one.values('x-user-name'))).toEqual([['sms-ann']])
    expect(postern.logText()).toContain('login module loaded')
  })

  test('needs the captcha before anything is sent', async () => {
    const { sms, postern } = await start(creatingNone)

    expect(await attempt(postern, { phone, code: 'wrong' })).toMatchObject({ msg: 'wrong captcha' })
    expect(await attempt(postern, { phone, code: undefined })).toMatchObject({ code: 400 })
    expect(await attempt(postern, { phone, uuid: 'x' })).toMatchObject({ msg: 'wrong captcha' })
    expect(sms.sent).toEqual([])
  })

  test('answers alike for numbers of users and of nobody', async () => {
    const { sms, postern } = await start(creatingNone)

    expect(await attempt(postern, { phone: '+15550199' })).toEqual(needed)
    expect(await attempt(postern, { phone: '+15550199', smsCode: '000000' })).toEqual(wrong)
    expect(await attempt(postern, { phone: 'not a number' })).toEqual(wrong)
    expect(sms.sent).toEqual([])
  })

  test('accepts no code twice, and none that is wrong; codes never reach the log', async () => {
    const { sms, postern } = await start()
    await attempt(postern, { phone })
    const code = sms.lastCode()
    const other = code === '000000' ? '111111' : '000000'

    expect(await attempt(postern, { phone, smsCode: other })).toEqual(wrong)
    expect(await attempt(postern, { phone, smsCode: code })).toMatchObject({ code: 200 })
    expect(await attempt(postern, { phone, smsCode: code })).toEqual(wrong)
    expect(postern.logText()).not.toContain(code)
  })

  test('locks out guesses of codes, however the number is spelled', async () => {
    const { sms, postern } = await start(creatingNone)
    await attempt(postern, { phone })
    const other = sms.lastCode() === '000000' ? '111111' : '000000'
    const spellings = ['+15550100', '+1-555-0100', '+1 (555) 0100', '+1.555.0100', '+1555 0100']

    for (const spelling of spellings) {
      expect(await attempt(postern, { phone: spelling, smsCode: other })).toEqual(wrong)
    }
    const last = await attempt(postern, { phone: '+1/5550100', smsCode: sms.lastCode() })

    expect(last).toMatchObject({ code: 429 })
  })

  test('with the service down is 503, counts no guess, and leaves other logins alone', async () => {
    const { sms, postern } = await start({
      ...creatingNone,
      failuresPerPair: 1,
      failuresPerAccount: 1,
    })
    await attempt(postern, { phone })
    const smsCode = sms.lastCode()
    await sms.stop()

    const down = { status: 503, code: 503 }
    for (const _ of [1, 2, 3]) {
      expect(await attempt(postern, { phone, smsCode })).toMatchObject(down)
    }
    const { username, password } = { username: 'editor', password: postern.passwords['editor'] }
    expect(await attempt(postern, { provider: 'password', username, password })).toMatchObject({
      code: 200,
    })
    expect(await attempt(postern, { provider: undefined, username, password })).toMatchObject({
      code: 200,
    })
    expect(postern.logText()).toContain('login module threw')
    expect(postern.logText()).not.toContain(smsCode)
    const metrics = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
    expect(metrics).toContain('postern_login_module_results_total{result="failed"} 3')
    const ready = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz?verbose`)
    expect(await ready.json()).toMatchObject({
      ready: true,
      loginModule: { name: 'sms', running: true, restarts: 0 },
    })
  })

  test('creates no account unless the setting allows it', async () => {
    const { sms, postern } = await start(creatingNone)
    await attempt(postern, { phone })

    expect(await attempt(postern, { phone, smsCode: sms.lastCode() })).toMatchObject({ code: 403 })
  })

  test('is the default where own passwords are off', async () => {
    const { sms, postern } = await start({ local: false })

    expect(await attempt(postern, { provider: undefined, phone })).toEqual(needed)
    const right = { provider: undefined, phone, smsCode: sms.lastCode() }
    expect(await attempt(postern, right)).toMatchObject({ code: 200 })
  })

  test('has the name of the attempt in the login log', async () => {
    const { postern } = await start()
    await attempt(postern, { phone: '+15550199', smsCode: '000000' })

    const rows = await loginLogRows(postern, 1)
    expect(rows.map((row) => row.username)).toEqual(['+15550199'])
  })

  test('compiles against the types of the package', () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-types-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const installed = join(directory, 'node_modules/postern')
    mkdirSync(installed, { recursive: true })
    cpSync('package.json', join(installed, 'package.json'))
    cpSync(module, join(directory, 'sms-login.mjs'))
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const compile = (...args: string[]) =>
      execFileSync(process.execPath, [tsc, ...args], { encoding: 'utf8' })
    compile('-p', 'tsconfig.types.json', '--outDir', join(installed, 'dist'))
    const strict =
      '--ignoreConfig --noEmit --checkJs --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes'
    const checks = `${strict} --module nodenext --target es2024 --typeRoots ${resolve('node_modules/@types')} --types node`
    const check = (file: string) => compile(...checks.split(' '), join(directory, file))

    expect(check('sms-login.mjs')).toBe('')
    writeFileSync(
      join(directory, 'wrong.ts'),
      `import type { VerifyCredentials } from 'postern/login'
       export const verifyCredentials: VerifyCredentials<'phone'> = async ({ phone }) => ({ user: phone })`,
    )
    expect(() => check('wrong.ts')).toThrow()
  })
})
