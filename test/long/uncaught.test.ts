import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const token = tokenOf('admin')
const get = request('GET /slow', [`Authorization: Bearer ${token}`])
const shutdown = { graceMs: 1500, idleMs: 0, deadlineMs: 20_000, failureDeadlineMs: 15_000 }

function misbehaving(way: string, more: Readonly<Record<string, string>> = {}) {
  return { preload: 'misbehaves.ts', env: { MISBEHAVE: way, ...more } }
}

// T233
describe('an error that nobody caught', () => {
  test.each(['throw', 'reject'])(
    'is logged once, makes it not ready, lets what is in flight finish and ends it with 1 (%s)',
    async (way) => {
      const { gateway, upstream } = await startLoneGateway({ shutdown }, misbehaving(way))
      upstream.answerWith((socket) => void setTimeout(() => socket.write(ok), 1800))
      const inFlight = sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
      await until(() => upstream.requests.length === 1)

      gateway.signal('SIGUSR2')
      await until(() => gateway.log.some(({ level }) => level === 'fatal'))
      const ready = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)
      upstream.answerWith((socket) => socket.write(ok))
      const late = await sendRaw(gateway.publicPort, get)

      expect(ready.status).toBe(503)
      expect(late.answers.map((answer) => [answer.status, answer.header('connection')])).toEqual([
        [200, 'close'],
      ])
      expect((await inFlight).answers.map(({ status }) => status)).toEqual([200])
      expect(await gateway.exit).toBe(1)
      const fatal = gateway.log.filter(({ level }) => level === 'fatal')
      expect(fatal).toMatchObject([
        { msg: 'uncaught exception; shutting down', err: { message: 'nobody caught this' } },
      ])
    },
  )

  test('is logged without the secrets that its text or its fields hold', async () => {
    const secrets = [testSecret, token, 'of-the-database', 'a-password-of-a-command', 'pw-of-url']
    const MESSAGE = `${testSecret} ${token} of-the-database Bearer abc.def redis://me:pw-of-url@h/0`
    const { gateway } = await startLoneGateway(
      { shutdown: { graceMs: 0 } },
      misbehaving('throw', { MESSAGE }),
    )

    gateway.signal('SIGUSR2')

    expect(await gateway.exit).toBe(1)
    const text = JSON.stringify(gateway.log)
    expect(text).toContain('misbehaves.ts')
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })

  test('does not stop the end that a signal began, and ends it with 1', async () => {
    const { gateway, upstream } = await startLoneGateway({ shutdown }, misbehaving('throw'))
    upstream.answerWith((socket) => void setTimeout(() => socket.write(ok), 1700))
    const inFlight = sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
    await until(() => upstream.requests.length === 1)

    gateway.signal('SIGTERM')
    await until(() => gateway.log.some(({ msg }) => msg === 'shutting down'))
    gateway.signal('SIGUSR2')
    await until(() => gateway.log.some(({ level }) => level === 'fatal'))
    gateway.signal('SIGUSR2')

    expect((await inFlight).answers.map(({ status }) => status)).toEqual([200])
    expect(await gateway.exit).toBe(1)
    expect(gateway.log.filter(({ level }) => level === 'fatal')).toHaveLength(1)
  })

  test.each(['every millisecond', 'in every tick'])(
    'that comes %s ends it at the deadline, and does not fill the log',
    async (way) => {
      const { gateway, upstream } = await startLoneGateway(
        { shutdown: { graceMs: 0, failureDeadlineMs: 1000 } },
        misbehaving(way),
      )
      upstream.answerWith(() => {})
      const hanging = sendRaw(gateway.publicPort, get, { quietMs: 60_000 })
      await until(() => upstream.requests.length === 1)

      gateway.signal('SIGUSR2')

      expect((await hanging).closed).toBe(true)
      expect(await gateway.exit).toBe(1)
      expect(gateway.log.filter(({ err }) => err !== undefined).length).toBeLessThanOrEqual(10)
    },
  )

  test('ends it also when nobody reads its log any more', async () => {
    const { gateway } = await startLoneGateway(
      { shutdown: { graceMs: 0, failureDeadlineMs: 5000 } },
      misbehaving('every millisecond'),
    )
    gateway.closePipes()
    await pause(50)

    gateway.signal('SIGUSR2')

    expect(await gateway.exit).toBe(1)
  })

  test('while it starts ends it with 1', async () => {
    const { gateway } = await startLoneGateway(
      { shutdown },
      misbehaving('throw', { MISBEHAVE_AT: 'start' }),
    )

    expect(await gateway.exit).toBe(1)
  })
})
