import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const secret = 'a-secret-for-tests-only-0123456789abcdef'

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A folder with the shipped policies and this configuration. */
async function folder(config: string, policy?: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-cli-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await cp('policies', join(directory, 'policies'), { recursive: true })
  if (policy !== undefined) await writeFile(join(directory, 'policies', 'policy.csv'), policy)
  await writeFile(join(directory, 'postern.yaml'), config)
  return directory
}

function start(
  directory: string,
  env: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): ChildProcess {
  const main = resolve('src/main.ts')
  const args = [...nodeOptions, main, 'serve', '--config', 'postern.yaml']
  const child = spawn(process.execPath, args, {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function ended(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk) => (out += chunk))
  child.stderr?.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  return { code, out, err }
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => String(chunk).includes('"listening"') && resolve())
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What npx left behind too. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

const data = () => `dataDirectory: ${inject('sharedData')}`

describe('postern serve', () => {
  // T113
  test.each([
    ['no secret', ''],
    ["the product family's default secret", 'go-admin'],
    ['a short secret', 'short-secret'],
    ['one character repeated', 'a'.repeat(64)],
  ])(
    'does not start in prod with %s, and names the setting but not the secret',
    async (_, value) => {
      const directory = await folder(`application: { mode: prod, port: 0 }\nops: { port: 0 }\n`)

      const { code, out, err } = await ended(
        start(directory, value === '' ? {} : { POSTERN_JWT__SECRET: value }),
      )

      expect(code).toBe(3)
      expect(err).toContain('jwt.secret')
      if (value !== '') expect(out + err).not.toContain(value)
      expect(err.trim().split('\n')).toHaveLength(1)
    },
  )

  test.each([
    ['by npx ends with npx, which passes no signal on', ['postern'], true],
    ['that another program of npx leaves behind goes on', ['leaver'], false],
  ])('%s', async (_, command, ends) => {
    const directory = await folder(`application: { port: 0, ${data()} }\nops: { port: 0 }\n`)
    const programs = join(directory, 'node_modules', '.bin')
    await mkdir(programs, { recursive: true })
    const gateway = `"${process.execPath}" "${resolve('src/main.ts')}"`
    const write = (name: string, text: string) =>
      writeFile(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    await write('postern', `echo $$ > pid; exec ${gateway} "$@"`)
    // Its child is ours, and it ends when it is told to.
    await write('leaver', `${gateway} "$@" & echo $! > pid; trap exit TERM; wait`)
    await writeFile(join(directory, 'package.json'), '{"name":"an-application"}')
    const npx = spawn('npx', ['--no', ...command, 'serve', '--config', 'postern.yaml'], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, POSTERN_JWT__SECRET: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    onTestFinished(() => void (npx.pid !== undefined && endGroup(npx.pid)))
    let log = ''
    npx.stdout.on('data', (chunk) => (log += chunk))
    npx.stderr.on('data', (chunk) => (log += chunk))
    await until(() => {
      if (npx.exitCode !== null) throw new Error(log)
      return log.includes('"listening"')
    })
    const pid = Number(await readFile(join(directory, 'pid'), 'utf8'))

    npx.kill('SIGTERM')
    await once(npx, 'exit')

    if (ends) await until(() => !isRunning(pid))
    else await pause(2000)
    expect([isRunning(pid), log.includes('"shutting down"')]).toEqual([!ends, ends])
  })

  // T242
  test('says every problem of a configuration, with its line, and exits with 3', async () => {
    const directory = await folder(
      'aplication: {}\njwt: { timeout: soon }\nroutes:\n  - { path: /x, upstream: none }\n',
    )

    const { code, err } = await ended(start(directory, { POSTERN_JWT__SECRET: secret }))

    expect(code).toBe(3)
    expect(
      err
        .split('\n')
        .map((line) => /^postern\.yaml:(\d+):/.exec(line)?.[1])
        .filter(Boolean),
    ).toEqual(['1', '2', '4'])
  })

  test('does not start on a bad policy, names file and line, and loads nothing of it', async () => {
    const directory = await folder(
      'application: { port: 0 }\nops: { port: 0 }\n',
      'p, editor, /api/v1/a, GET\np, editor, /api/v1/:, GET\n',
    )

    const { code, err } = await ended(start(directory, { POSTERN_JWT__SECRET: secret }))

    expect(code).toBe(3)
    expect(err).toMatch(/policies\/policy\.csv:2:\d+: /)
  })

  test.each([
    ['the tables of another product', 'auto', /^database: table sys_user has no column role_id /m],
    ['no tables that it may make', 'never', /^database: .*run "postern db migrate" to create it$/m],
  ])('does not start on %s, shows the difference and exits with 3', async (_, migrate, said) => {
    const postgres = await startPostgres()
    onTestFinished(postgres.stop)
    if (migrate === 'auto') await postgres.query('create table sys_user (user_id bigint)')
    const directory = await folder(
      `application: { port: 0 }\nops: { port: 0 }\njwt: { secret: ${secret} }\n` +
        `database: { url: '${postgres.url}', migrate: ${migrate} }\n`,
    )

    const { code, out, err } = await ended(start(directory))

    expect({ code, listens: out.includes('"listening"') }).toEqual({ code: 3, listens: false })
    expect(err).toMatch(said)
  })

  test('says in one line that a port is in use, and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const directory = await folder(
      `application: { host: 127.0.0.1, port: ${port}, ${data()} }\nops: { port: 0 }\n`,
    )

    const { code, err } = await ended(start(directory, { POSTERN_JWT__SECRET: secret }))

    expect(code).toBe(1)
    expect(err).toMatch(
      new RegExp(`^postern: cannot listen on 127\\.0\\.0\\.1:${port}: it is in use`),
    )
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  test('with workers says once that a port is in use, and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const stores = `redis: { url: 'redis://127.0.0.1:1' }\ndatabase: { url: 'postgres://127.0.0.1:1/a' }\n`
    const directory = await folder(
      `application: { host: 127.0.0.1, port: ${port}, workers: 3 }\nops: { port: 0 }\n${stores}`,
    )

    const { code, out, err } = await ended(start(directory, { POSTERN_JWT__SECRET: secret }))

    expect(code).toBe(1)
    expect(err).toMatch(
      new RegExp(`^postern: cannot listen on 127\\.0\\.0\\.1:${port}: it is in use[^\n]*\n$`),
    )
    // What the worker wrote before it ended came through its supervisor.
    expect(out.split('\n').filter((line) => line.includes('"policy loaded"'))).toHaveLength(1)
  })

  test('does not start several workers that would share nothing, in one line', async () => {
    const directory = await folder('application: { port: 0, workers: 2 }\nops: { port: 0 }\n')

    const { code, err } = await ended(start(directory, { POSTERN_JWT__SECRET: secret }))

    expect(code).toBe(3)
    expect(err).toMatch(
      /^postern\.yaml:1:\d+: application\.workers is 2, so database\.url and redis\.url are required: [^\n]*\n$/,
    )
  })

  test('with workers auto starts one where they would share nothing, and says why', async () => {
    const directory = await folder(
      `application: { host: 127.0.0.1, port: 0, workers: auto, ${data()} }\nops: { port: 0 }\n`,
    )
    const child = start(directory, { POSTERN_JWT__SECRET: secret })
    const end = ended(child)
    await listening(child)

    child.kill('SIGTERM')

    const { code, out } = await end
    expect(code).toBe(0)
    const why = 'several workers need database.url and redis.url'
    // One core needs no reason.
    if (availableParallelism() > 1) expect(out).toContain(`"workers":1,"reason":"${why}"`)
    expect(out).not.toContain('"worker":1')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('ends on %s with exit code 0', async (signal) => {
    const directory = await folder(
      `application: { host: 127.0.0.1, port: 0, ${data()} }\nops: { port: 0 }\n`,
    )
    const child = start(directory, { POSTERN_JWT__SECRET: secret })
    const end = ended(child)
    await listening(child)

    child.kill(signal)

    expect((await end).code).toBe(0)
  })
})

describe('SIGTERM while it starts', () => {
  test('ends it with exit code 0, without the grace for callers that it cannot have', async () => {
    const directory = await folder(
      `application: { host: 127.0.0.1, port: 0, ${data()} }\nops: { port: 0 }\n` +
        'shutdown: { graceMs: 600000, deadlineMs: 600000 }\n',
    )
    const preload = resolve('test/support/told-to-end.ts')

    const child = start(directory, { POSTERN_JWT__SECRET: secret }, ['--import', preload])

    expect((await ended(child)).code).toBe(0)
  })
})

describe('the reader of the log', () => {
  test('may leave; the gateway goes on, and still ends on SIGTERM', async () => {
    const directory = await folder(
      `application: { host: 127.0.0.1, port: 0, ${data()} }\nops: { port: 0 }\n`,
    )
    const child = start(directory, { POSTERN_JWT__SECRET: secret })
    await listening(child)
    child.stdout?.destroy()

    child.kill('SIGTERM')

    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('postern', () => {
  test.each([
    [['--help'], 0],
    [['version'], 0],
    [[], 2],
    [['nonsense'], 2],
    [['serve', '--nonsense'], 2],
    [['worker'], 2],
    [['user'], 2],
  ])('%j ends with %i', async (args, code) => {
    const child = spawn(process.execPath, ['src/main.ts', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })

    expect((await ended(child)).code).toBe(code)
  })
})
