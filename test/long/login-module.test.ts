import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { openLoginModule } from '../../src/login/methods/module/login-module.ts'
import { moduleFile, openModule } from '../support/login-modules.ts'
import { until } from '../support/until.ts'

const fields = 'export const fields = { phone: { maxBytes: 32 }, smsCode: { optional: true } }\n'
const fault = (reason: RegExp) => ({
  name: 'Fault',
  part: 'login-module',
  message: expect.stringMatching(reason),
})

describe('a login module', () => {
  test('gets the fields, the address and accounts without their hash', async () => {
    const { ask, asked } = await openModule(`${fields}
      export async function verifyCredentials(request, tools) {
        const account = await tools.findAccount(request.phone)
        const nobody = await tools.findAccount('nobody')
        return { subject: tools.remoteAddress, username: [Object.keys(account).join(), nobody, tools.signal.aborted].join(' ') }
      }`)

    expect(await ask({ phone: 'ann' })).toEqual({
      subject: '192.0.2.7',
      username: 'userId,username,roleKey,enabled  false',
    })
    expect(asked).toEqual(['ann', 'nobody'])
  })

  test('says that credentials are wrong, that a code is needed, or who it is', async () => {
    const { ask } = await openModule(
      `${fields}export const verifyCredentials = ({ phone, smsCode }) =>
        smsCode === undefined ? 'otp-needed' : smsCode === '1' ? { username: phone, role: undefined } : undefined`,
    )

    expect(await ask({ phone: '+1' })).toBe('otp-needed')
    expect(await ask({ phone: '+1', smsCode: '2' })).toBeUndefined()
    expect(await ask({ phone: '+1', smsCode: '1' })).toEqual({ username: '+1' })
  })

  test('that returns what cannot be copied, or only looks like a result, is a fault', async () => {
    const { ask } = await openModule(`${fields}
      const results = {
        function: { username: () => 'ann' }, map: new Map([['username', 'ann']]), error: new Error('ann'),
        getter: Object.create({ username: 'ann' }), boxed: { username: new String('ann') }, date: new Date(),
      }
      export const verifyCredentials = ({ phone }) => results[phone] ?? true`)

    for (const phone of ['function', 'map', 'error', 'getter', 'boxed', 'date', 'true']) {
      await expect(ask({ phone }), phone).rejects.toMatchObject(fault(/returned|threw/))
    }
  })

  test('that throws is a fault, and its next login works', async () => {
    const { ask, state } = await openModule(`${fields}
      export function verifyCredentials({ phone }) {
        if (phone === 'sync') throw new Error('sms.example is down')
        if (phone === 'odd') throw null
        if (phone === 'trap') throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })
        return { username: phone }
      }`)

    await expect(ask({ phone: 'sync' })).rejects.toMatchObject(
      fault(/sms threw Error: sms\.example is down/),
    )
    await expect(ask({ phone: 'odd' })).rejects.toMatchObject(fault(/threw/))
    await expect(ask({ phone: 'trap' })).rejects.toMatchObject(fault(/unreadable/))
    expect(await ask({ phone: 'ann' })).toEqual({ username: 'ann' })
    expect(state()).toEqual({ name: 'sms', running: true, restarts: 0 })
  })

  test('puts neither codes nor passwords into the log, whatever it throws, logs or prints', async () => {
    const { ask, logText } = await openModule(`${fields}
      export async function verifyCredentials({ phone, smsCode }, { log, findAccount }) {
        console.log('code', smsCode)
        log.info('checking ' + smsCode + ' of ' + phone, { smsCode, tries: 3, nested: { smsCode } })
        await findAccount('broken').catch((error) => log.warn(error.message))
        throw new Error('POST https://sms.example/verify?code=' + encodeURIComponent(smsCode) + ' failed')
      }`)
    const error: unknown = await ask({ phone: '+491234', smsCode: '98"7 65' }).catch((it) => it)

    expect(String(error)).toContain('code=[masked] failed')
    await until(() => logText().includes('login module printed'))
    expect(logText()).toContain('checking [masked] of +491234')
    expect(logText()).toContain('"tries":3')
    expect(logText()).toContain('findAccount: the database cannot be reached')
    expect(logText()).toContain('login module threw')
    for (const secret of ['98"7', '98\\"7', '98%227', 'hunter22']) {
      expect(logText()).not.toContain(secret)
    }
  })

  test('floods neither the log nor the database', async () => {
    const { ask, asked, logText } = await openModule(`${fields}
      export async function verifyCredentials(_, { log, findAccount }) {
        for (let i = 0; i < 100_000; i++) log.info('line'.repeat(100_000 * (i === 0)), { ['k'.repeat(200)]: 1 })
        for (let i = 0; i < 11; i++) await findAccount('name')
      }`)

    await expect(ask({ phone: '1' })).rejects.toThrow('more than 10 calls')
    expect(asked).toHaveLength(10)
    expect(logText().match(/login module message/g)).toHaveLength(20)
    expect(logText().length).toBeLessThan(20_000)
  })

  test('that gets no answer in time is a fault; it sees the abort and keeps its thread', async () => {
    const { ask, state, logText } = await openModule(
      `${fields}export async function verifyCredentials({ phone }, { signal, log }) {
        if (phone === 'fast') return { username: 'fast' }
        await new Promise((_, reject) => signal.addEventListener('abort', () => {
          log.warn('saw the abort')
          reject(signal.reason)
        }))
      }`,
      { timeoutMs: 300 },
    )

    await expect(ask({ phone: 'slow' })).rejects.toMatchObject(
      fault(/did not answer within 300 ms/),
    )
    await until(() => logText().includes('saw the abort'))
    await until(() =>
      ask({ phone: 'fast' }).then(
        () => true,
        () => false,
      ),
    )
    expect(state().restarts).toBe(0)
  })

  test('that blocks its thread loses it, and nothing else waits', async () => {
    const { ask, state, logText } = await openModule(
      `${fields}export function verifyCredentials({ phone }) {
        while (phone === 'loop') {}
        return { username: phone }
      }`,
      { timeoutMs: 1000 },
    )

    await expect(ask({ phone: 'loop' })).rejects.toMatchObject(fault(/did not answer within/))
    await until(() => state().restarts === 1)
    await until(() =>
      ask({ phone: 'ann' }).then(
        () => true,
        () => false,
      ),
    )
    expect(logText()).toContain('login module restarting')
    expect(logText()).toContain('login module running again')
    expect(state()).toEqual({ name: 'sms', running: true, restarts: 1 })
  })

  test.each([
    ['exits', 'process.exit(0)'],
    ['throws later', "setTimeout(() => { throw new Error('later') })"],
    ['leaks memory', 'for (const all = []; ; ) all.push(new Array(100_000).fill({}))'],
    ['leaves a rejection', "void Promise.reject(new Error('unhandled'))"],
  ])('that %s is started again', async (_, statement) => {
    const { ask, state } = await openModule(
      `${fields}export async function verifyCredentials({ phone }) {
        if (phone === 'ann') return { username: phone }
        ${statement}
        await new Promise(() => {})
      }`,
    )

    await expect(ask({ phone: 'bad' })).rejects.toMatchObject(fault(/lost its thread/))
    expect(await ask({ phone: 'ann' })).toEqual({ username: 'ann' })
    expect(state().restarts).toBe(1)
  })

  test('cannot answer for us, and sees no setting of the gateway in its environment', async () => {
    process.env['POSTERN_TEST_SECRET'] = 'x'
    const { ask } = await openModule(`
      import { parentPort } from 'node:worker_threads'
      ${fields}export function verifyCredentials() {
        parentPort?.postMessage({ kind: 'returned', call: 1, result: { username: 'admin' } })
        return { username: String(Object.keys(process.env).filter((name) => name.startsWith('POSTERN_')).length) }
      }`)
    delete process.env['POSTERN_TEST_SECRET']

    expect(await ask({ phone: '1' })).toEqual({ username: '0' })
  })

  test('has at most 100 logins waiting', async () => {
    const { ask } = await openModule(
      `${fields}export const verifyCredentials = ({ phone }, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))`,
      { timeoutMs: 500 },
    )

    const outcomes = await Promise.allSettled(
      Array.from({ length: 101 }, () => ask({ phone: '1' })),
    )

    const reasons = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : ''))
    expect(reasons.filter((reason) => reason.includes('too many logins waiting'))).toHaveLength(1)
  })

  test('uses the result of a login for that login only', async () => {
    const { ask } = await openModule(`${fields}
      export async function verifyCredentials({ phone }) {
        await new Promise((resolve) => setTimeout(resolve, phone.endsWith('7') ? 30 : 1))
        return { username: phone }
      }`)
    const phones = Array.from({ length: 40 }, (_, at) => `+${at}`)

    const results = await Promise.all(phones.map((phone) => ask({ phone })))

    expect(results).toEqual(phones.map((username) => ({ username })))
  })
})

describe('loading a login module', () => {
  const open = (file: string) =>
    openLoginModule({
      file,
      timeoutMs: 1000,
      log: createLog('silent', process.stdout),
      findAccount: async () => undefined,
    })

  test.each<[string, string, RegExp]>([
    [
      'a syntax error',
      'export const = 1',
      /^\S+sms\.mjs: cannot be loaded: SyntaxError: .*; "node --check" shows the line$/,
    ],
    [
      'a missing package',
      "import 'no-such-package'",
      /cannot be loaded: Error: Cannot find package 'no-such-package'/,
    ],
    [
      'an error of its own',
      "throw new Error('set SMS_KEY')",
      /cannot be loaded: Error: set SMS_KEY/,
    ],
    ['an exit', 'process.exit()', /sms\.mjs: its thread exited/],
    ['nonsense', 'export const fields = 1', /sms\.mjs: exports no function verifyCredentials/],
  ])('fails with one line for %s', async (_, source, message) => {
    const error: unknown = await open(moduleFile(source)).catch((it: unknown) => it)

    expect(error).toMatchObject({ name: 'Invalid', message: expect.stringMatching(message) })
    expect(String(error)).not.toContain('\n')
  })

  test('fails for a file that is missing, and for a directory', async () => {
    await expect(open('/no/such.mjs')).rejects.toThrow('/no/such.mjs: cannot be read (ENOENT)')
    await expect(open('/tmp')).rejects.toThrow('/tmp: cannot be read (not a file)')
  })

  test('does not change what is declared while the gateway runs', async () => {
    const source = (captcha: boolean) => `export const captcha = ${captcha}
      export const fields = { phone: {} }
      export const verifyCredentials = () => process.exit()`
    const file = moduleFile(source(true))
    const module = await open(file)
    writeFileSync(file, source(false))

    const ask = () => module.verify({ request: { phone: '1' }, remoteAddress: '::1' })
    await expect(ask()).rejects.toThrow('lost its thread')
    await expect(ask()).rejects.toThrow('declares other fields or options than at the start')
    await module.close()
  })
})
