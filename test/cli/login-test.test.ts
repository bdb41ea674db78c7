import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testPrefix } from '../support/redis-client.ts'
import { startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'

const secret = 'a secret of the test that is long enough for anybody'

/** A gateway in mode prod, and a directory with the configuration that it shares with the command. */
async function started(mode = 'prod', port?: number) {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const config = {
    application: { mode },
    jwt: { secret },
    redis: { url: redis.url, prefix: testPrefix },
  }
  const postern = await startPostern({ config })
  const directory = await mkdtemp(join(tmpdir(), 'postern-login-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const write = (settings: object) =>
    writeFile(join(directory, 'postern.yaml'), JSON.stringify(settings))
  await write(config)
  const run = (user: string, stdin: string) =>
    runCommand(
      [
        ...['login', 'test', user, '--password-file', '-'],
        ...['--url', `http://127.0.0.1:${port ?? postern.publicPort}`],
      ],
      { cwd: directory, stdin },
    )
  return { postern, config, write, run, password: `${postern.passwords['editor']}\n` }
}

describe('login test', () => {
  test.each(['prod', 'dev'])('logs in and out, in mode %s', async (mode) => {
    const { run, password } = await started(mode)

    expect(await run('editor', password)).toEqual({
      code: 0,
      out: '',
      err: 'postern: logged in as editor\npostern: logged out; the token is refused\n',
    })
  })

  test('reports a wrong password as refused, and shows no password', async () => {
    const { run } = await started()

    const { code, err } = await run('editor', 'hunter2-hunter2\n')

    expect(code).toBe(1)
    expect(err).toMatch(/^postern: login refused: HTTP 200 \{"code":400,/)
    expect(err).not.toContain('hunter2')
  })

  test('is refused by gateways with other keys: the captcha is not theirs', async () => {
    const { run, write, config, password } = await started()
    await write({ ...config, jwt: { secret: secret.toUpperCase() } })

    const { code, err } = await run('editor', password)

    expect(code).toBe(1)
    expect(err).toContain('login refused')
  })

  test('says what is missing: Redis, the address, the password', async () => {
    const { run, write, config, password } = await started()
    await write({ ...config, redis: {} })

    expect(await run('editor', password)).toMatchObject({
      code: 1,
      err: expect.stringContaining('redis.url is not set'),
    })
    const args = ['login', 'test', 'editor', '--url', 'gateway', '--password-file', '-']
    expect(await runCommand(args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--url: "gateway" is not an origin'),
    })
    expect(await runCommand(['login', 'test', 'editor', '--url', 'http://a'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--password-file is required'),
    })
  })

  test('says that no gateway answers', async () => {
    const { run, password } = await started('prod', 1)

    expect(await run('editor', password)).toEqual({
      code: 5,
      out: '',
      err: expect.stringMatching(/^postern: http:\/\/127\.0\.0\.1:1 did not answer: /),
    })
  })
})
