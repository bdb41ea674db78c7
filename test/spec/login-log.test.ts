import { describe, expect, test } from 'vitest'
import { takeCaptcha } from '../support/captchas.ts'
import { dev, goodLogin, logIn, postLogin } from '../support/log-in.ts'
import { loginLogRows } from '../support/login-log-rows.ts'
import { startPostern } from '../support/start-postern.ts'

describe('the login log', () => {
  test('records every attempt, successful or failed, with the name that was tried', async () => {
    const postern = await startPostern({
      ownDatabase: true,
      config: { ...dev, login: { failuresPerPair: 2, perAddressPerMinute: 100 } },
    })

    await postLogin(postern, goodLogin(postern))
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    await postLogin(postern, { ...goodLogin(postern, 'nobody'), password: 'wrong' })
    await postLogin(postern, { ...goodLogin(postern), code: undefined })
    await postLogin(postern, '{')
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    await postLogin(postern, goodLogin(postern))
    const rows = await loginLogRows(postern, 7)

    expect(rows.map(({ username, status, msg }) => [username, status, msg])).toEqual([
      ['editor', '2', 'login succeeded'],
      ['editor', '1', 'wrong username or password'],
      ['nobody', '1', 'wrong username or password'],
      ['editor', '1', 'malformed login request'],
      ['', '1', 'malformed login request'],
      ['editor', '1', 'wrong username or password'],
      ['editor', '1', 'too many attempts'],
    ])
  })

  test('records a wrong captcha, and a logout', async () => {
    const postern = await startPostern({ ownDatabase: true })

    await postLogin(postern, { ...goodLogin(postern), uuid: 'x', code: 'y' })
    const answer = await postLogin(postern, {
      ...goodLogin(postern),
      ...(await takeCaptcha(postern)),
    })
    const { token } = answer.json() as { token: string }
    await postern.call('POST /api/v1/logout', { token, body: '' })
    const rows = await loginLogRows(postern, 3)

    expect(rows.map(({ msg }) => msg)).toEqual([
      'wrong captcha',
      'login succeeded',
      'logout succeeded',
    ])
  })

  test('holds the real peer address and the client, cut to the columns', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })
    const agent = `Browser/1.0 ${'x'.repeat(400)}`

    await postLogin(postern, goodLogin(postern), [
      'Content-Type: application/json',
      'X-Forwarded-For: 9.9.9.9',
      `User-Agent: ${agent}`,
    ])
    const [row] = await loginLogRows(postern, 1)

    expect(row).toMatchObject({ ipaddr: '127.0.0.1', remark: agent.slice(0, 255) })
  })

  test('never holds a password', async () => {
    const postern = await startPostern({ ownDatabase: true, config: dev })

    await postLogin(postern, { ...goodLogin(postern), password: 'a-secret-guess' })
    const rows = await loginLogRows(postern, 1)

    expect(JSON.stringify(rows)).not.toContain('a-secret-guess')
    expect(postern.logText()).not.toContain('a-secret-guess')
  })

  test('is empty when logger.enableddb is off', async () => {
    const postern = await startPostern({
      ownDatabase: true,
      config: { ...dev, logger: { enableddb: false } },
    })

    await logIn(postern)
    await postLogin(postern, { ...goodLogin(postern), password: 'wrong' })
    const rows = await loginLogRows(postern, 0)

    expect(rows).toEqual([])
  })
})
