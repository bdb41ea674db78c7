import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dev, logIn, postLogin } from '../support/log-in.ts'
import { startPublished } from '../support/published-policies.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

async function scrape({ opsPort }: TestPostern): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return answer.text()
}

/** The lines of our own figures, without their explanations. */
async function samples(postern: TestPostern): Promise<readonly string[]> {
  const text = await scrape(postern)
  return text.split('\n').filter((line) => line.startsWith('postern_'))
}

describe('/metrics', () => {
  test('counts requests by their true outcome, also where HTTP says 200', async () => {
    const postern = await startPostern()
    await postern.call('GET /api/v1/articles/7', { as: 'editor' })
    await postern.call('GET /api/v1/sys-user', { as: 'editor' })
    await postern.call('GET /api/v1/articles/7')
    await postern.call('GET /api/v1/articles/7', { token: `${tokenOf('editor')}x` })
    await postern.call('GET /%2e%2e/etc', { as: 'editor' })

    const requests = (outcome: string, status: number, route = '/') =>
      `postern_requests_total{route="${route}",method="GET",status="${status}",outcome="${outcome}"} 1`
    const rest = 'postern_outcomes_total{outcome="ambiguous-path"} 1'
    await until(async () => (await samples(postern)).includes(rest))
    expect(await samples(postern)).toEqual(
      expect.arrayContaining([
        requests('passed', 200),
        requests('not-permitted', 200),
        requests('token-missing', 200),
        requests('token-invalid', 200),
        requests('ambiguous-path', 400, 'none'),
        'postern_authn_total{result="ok",carrier="header"} 2',
        'postern_authn_total{result="token-missing",carrier="none"} 1',
        'postern_authz_total{result="allowed",step="rule",mode="enforce"} 1',
        'postern_authz_total{result="denied",step="none",mode="enforce"} 1',
        'postern_request_duration_seconds_count{route="/"} 4',
        'postern_request_duration_seconds_bucket{le="+Inf",route="/"} 4',
        'postern_upstream_request_duration_seconds_count{upstream="backend"} 1',
        'postern_authz_duration_seconds_count 2',
        'postern_log_dropped_total 0',
        'postern_open_requests 0',
        'postern_mode_info{mode="prod",version="0.1.0"} 1',
      ]),
    )
  })

  test('counts logins and captchas by result', async () => {
    const postern = await startPostern({ config: dev })
    await logIn(postern)
    await postLogin(postern, { username: 'editor', password: 'wrong', uuid: '-', code: '-' })
    await postern.call('GET /api/v1/getCaptcha')

    const captcha = 'postern_captcha_total{result="ok"} 1'
    await until(async () => (await samples(postern)).includes(captcha))
    expect(await samples(postern)).toEqual(
      expect.arrayContaining([
        'postern_login_total{result="ok"} 1',
        'postern_login_total{result="wrong-credentials"} 1',
        captcha,
      ]),
    )
  })

  test('counts login attempts that were turned away, and by what', async () => {
    const limits = { failuresPerAccount: 1, failuresPerPair: 1, perAddressPerMinute: 3 }
    const postern = await startPostern({ config: { ...dev, login: limits } })
    const wrong = { username: 'editor', password: 'wrong', uuid: '-', code: '-' }
    for (let time = 0; time < 5; time++) await postLogin(postern, wrong)

    const turnedAway = (by: string) => `postern_login_lockouts_total{by="${by}"} 2`
    await until(async () => (await samples(postern)).includes(turnedAway('address')))
    expect(await samples(postern)).toContain(turnedAway('account'))
  })

  test('shows the streams that are open', async () => {
    const postern = await startPostern()
    const opened: Socket[] = []
    postern.upstream.answerWith((socket) => {
      opened.push(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n')
    })
    const query = `?token=${tokenOf('editor')}`
    const events = await fetch(`http://127.0.0.1:${postern.publicPort}/api/v1/public/x${query}`)
    postern.upstream.answerWith(echoing())
    const socket = new WebSocket(`ws://127.0.0.1:${postern.publicPort}/api/v1/public/y${query}`)
    await once(socket, 'open')
    const open = (kind: string, count: number) => `postern_open_streams{kind="${kind}"} ${count}`

    expect(await samples(postern)).toEqual(
      expect.arrayContaining([open('events', 1), open('upgrade', 1)]),
    )

    for (const connection of opened) connection.end()
    await events.text()
    socket.close()
    await until(async () => (await samples(postern)).includes(open('upgrade', 0)))
    await until(async () => (await samples(postern)).includes(open('events', 0)))
  })

  test('shows how long a policy took from its publication to being in force', async () => {
    const { postern, publish } = await startPublished({ rules: ['clerk, /first, GET'] })
    const count = (times: number) => `postern_policy_propagation_seconds_count ${times}`
    // What was there before the start was not waited for.
    expect(await samples(postern)).toContain(count(0))

    await publish(['clerk, /second, GET'])

    await until(async () => (await samples(postern)).includes(count(1)))
    const soon = /^postern_policy_propagation_seconds_bucket\{le="5"\} 1$/m
    expect(await scrape(postern)).toMatch(soon)
  })

  test('has no user, token, raw path or method of a client in a label', async () => {
    const postern = await startPostern()
    const token = tokenOf('editor', { identity: 987654, nice: 'ada-lovelace' })
    await postern.call('GET /api/v1/articles/secret-4711', { token })
    await postern.call('PROPFIND /api/v1/articles/secret-4711', { token })
    await postern.call(`GET /api/v1/public/x?token=${token}`)

    const text = await scrape(postern)

    expect(text).toContain('method="other"')
    for (const own of ['987654', 'ada-lovelace', 'secret-4711', 'PROPFIND', token.slice(-24)]) {
      expect(text).not.toContain(own)
    }
  })

  test('shows which policy is in force, and that a bad edit was not taken in', async () => {
    const postern = await startPostern()
    const before = await samples(postern)

    expect(before).toEqual(
      expect.arrayContaining([
        `postern_policy_info{revision="${postern.revision}",source="files",engine="index"} 1`,
        'postern_policy_rules 4',
        'postern_policy_reloads_total{result="ok"} 1',
        'postern_policy_reloads_total{result="failed"} 0',
        'postern_policy_last_reload_success 1',
      ]),
    )

    await writeFile(join(postern.policyDirectory, 'policy.csv'), 'p, editor, no-slash, GET\n')
    await until(async () =>
      (await samples(postern)).includes('postern_policy_last_reload_success 0'),
    )
    const after = await samples(postern)

    expect(after).toContain(
      `postern_policy_info{revision="${postern.revision}",source="files",engine="index"} 1`,
    )
    expect(after).not.toContain('postern_policy_reloads_total{result="failed"} 0')
  })

  test('shows the process it runs in', async () => {
    const postern = await startPostern()

    expect(await scrape(postern)).toMatch(/^process_resident_memory_bytes \d+/m)
  })

  test('is not on the public port', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /metrics')

    expect(answer.json()).toMatchObject({ code: 401 })
  })
})
