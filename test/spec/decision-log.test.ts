import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { version } from '../../src/kernel/version.ts'
import { ask, asked, contracts } from '../support/forward-auth.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

type Line = Readonly<Record<string, unknown>>

const on = (changes: Readonly<Record<string, unknown>> = {}) => ({
  logger: { decisions: { enabled: true, ...changes } },
})

function decisionsIn(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line.includes('"decision_id"'))
  return lines.map((line) => JSON.parse(line))
}

async function decisions(postern: TestPostern, count = 1): Promise<Line[]> {
  await until(() => decisionsIn(postern.logText()).length >= count)
  return decisionsIn(postern.logText())
}

async function temporaryFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-decisions-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'decisions.jsonl')
}

describe('the decision log', () => {
  test('is off unless it is asked for', async () => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/x', { as: 'editor' })
    await until(() => postern.logText().includes('"request"'))

    expect(decisionsIn(postern.logText())).toEqual([])
  })

  test('records a MOVE that is refused for its Destination as denied, with that path', async () => {
    const postern = await startPostern({ config: on(), rules: ['editor, /api/v1/mine/*, *'] })

    await postern.call('MOVE /api/v1/mine/a', {
      as: 'editor',
      headers: ['Destination: /api/v1/yours/a'],
    })

    const [decision] = await decisions(postern)
    expect(decision).toMatchObject({ method: 'MOVE', path: '/api/v1/yours/a', result: 'deny' })
    expect(decision).toMatchObject({ reason: 'no-rule', step: 'none' })
  })

  test('says who asked for what, and which line of which file said yes', async () => {
    const postern = await startPostern({ config: on() })
    const traceparent = 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

    await postern.call('GET /api/v1/articles/7?q=private', { as: 'editor', headers: [traceparent] })

    const [decision] = await decisions(postern)
    expect(decision).toEqual({
      level: 'info',
      msg: 'decision',
      decision_id: expect.stringMatching(/^[\da-f]{8}-/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      request_id: expect.stringMatching(/^[\da-f]{8}-/),
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: expect.stringMatching(/^[\da-f]{16}$/),
      revision: postern.revision,
      subject: { user_id: '42', role_key: 'editor' },
      method: 'GET',
      path: '/api/v1/articles/7',
      result: 'allow',
      reason: 'rule-allows',
      step: 'rule',
      rule: { file: 'policy.csv', line: 2 },
      duration_us: expect.any(Number),
      labels: { pod: hostname(), version },
    })
    expect(postern.upstream.requests.at(-1)?.values('traceparent').join()).toContain(
      String(decision?.['span_id']),
    )
  })

  test.each([
    ['GET /api/v1/nothing', { as: 'editor' }, 'deny', 'no-rule', 'none'],
    ['GET /api/v1/nothing', { as: 'admin' }, 'allow', 'admin-role', 'admin'],
    ['GET /api/v1/user/profile', { as: 'editor' }, 'allow', 'excluded', 'exclusion'],
    ['GET /api/v1/articles/7', {}, 'deny', 'token-missing', 'identity'],
    ['GET /api/v1/articles/7', { token: 'a.b.c' }, 'deny', 'token-invalid', 'identity'],
    ['GET /free/x', {}, 'allow', 'public-route', 'route'],
    ['GET /known/x', { as: 'editor' }, 'allow', 'authenticated-route', 'route'],
  ])('writes down %s as %o: %s, %s', async (line, options, result, reason, step) => {
    const postern = await startPostern({
      config: on(),
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/free', upstream: 'backend', access: 'public', reason: 'for the test' },
        { path: '/known', upstream: 'backend', access: 'authenticated' },
      ],
    })

    await postern.call(line, options)

    expect(await decisions(postern)).toMatchObject([{ result, reason, step }])
  })

  test('says that a token had expired, and has nothing of it', async () => {
    const postern = await startPostern({ config: on() })
    const token = tokenOf('editor', { exp: nowSeconds() - 3600 })

    await postern.call(`GET /api/v1/articles/7?token=${token}&q=private`)

    const [decision] = await decisions(postern)
    expect(decision).toMatchObject({ result: 'deny', reason: 'token-expired', step: 'identity' })
    expect(decision).not.toHaveProperty('subject')
    expect(JSON.stringify(decision)).not.toMatch(/private|token=|eyJ/)
  })

  test('has no line for what was turned away before anybody was asked', async () => {
    const postern = await startPostern({ config: on() })

    await postern.call('GET /%2e%2e/etc', { as: 'editor' })
    await postern.call('POST /api/v1/refresh_token', { as: 'editor' })
    await postern.call('GET /api/v1/public/x', { as: 'editor' })

    const all = await decisions(postern)
    expect(all.map(({ path }) => path)).toEqual(['/api/v1/public/x'])
  })

  test('has the questions of other proxies, with their contract', async () => {
    const postern = await startPostern({ config: asked(on()) })
    const { line, headers } = contracts.traefik('DELETE', '/api/v1/articles/7')

    await ask(postern, line, { as: 'editor', headers })

    expect(await decisions(postern)).toMatchObject([
      { contract: 'traefik', method: 'DELETE', path: '/api/v1/articles/7', result: 'deny' },
    ])
  })

  test('is written whatever the level of the log is', async () => {
    const postern = await startPostern({
      config: { logger: { level: 'fatal', ...on().logger } },
    })

    await postern.call('GET /api/v1/public/x', { as: 'editor' })

    expect(await decisions(postern)).toHaveLength(1)
  })

  test('hides users and paths behind a hash that stays comparable, or leaves them out', async () => {
    const hidden = await startPostern({ config: on({ userId: 'hash', path: 'hash' }) })
    const other = await startPostern({ config: on({ userId: 'hash', path: 'omit' }) })

    await hidden.call('GET /api/v1/public/x', { as: 'editor' })
    await hidden.call('GET /api/v1/public/y', { as: 'editor' })
    await other.call('GET /api/v1/public/x', { as: 'editor' })

    const [first, second] = await decisions(hidden, 2)
    const [elsewhere] = await decisions(other)
    expect(first?.['subject']).toEqual({
      user_id: expect.stringMatching(/^[\w-]{22}$/),
      role_key: 'editor',
    })
    expect(second?.['subject']).toEqual(first?.['subject'])
    expect(elsewhere?.['subject']).toEqual(first?.['subject'])
    expect(first?.['path']).toMatch(/^[\w-]{22}$/)
    expect(second?.['path']).not.toBe(first?.['path'])
    expect(elsewhere).not.toHaveProperty('path')
  })

  test('goes to a file by choice, and to a new one when that is moved away', async () => {
    const file = await temporaryFile()
    const postern = await startPostern({ config: on({ file }) })
    const read = (path: string) => readFile(path, 'utf8').catch(() => '')

    await postern.call('GET /api/v1/public/x', { as: 'editor' })
    await until(async () => decisionsIn(await read(file)).length === 1)
    await rename(file, `${file}.1`)
    await until(async () => {
      await postern.call('GET /api/v1/public/y', { as: 'editor' })
      return decisionsIn(await read(file)).length > 0
    })
    await postern.call('GET /api/v1/public/last', { as: 'editor' })
    await postern.close()

    expect(decisionsIn(await read(file)).at(-1)).toMatchObject({ path: '/api/v1/public/last' })
    expect(decisionsIn(await read(`${file}.1`))[0]).toMatchObject({ path: '/api/v1/public/x' })
    expect(decisionsIn(postern.logText())).toEqual([])
  })

  test('that cannot be written is a start that fails, with the name of the setting', async () => {
    const file = join(await temporaryFile(), 'no', 'such', 'directory')

    await expect(startPostern({ config: on({ file }) })).rejects.toThrow('logger.decisions.file')
  })
})
