import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sumUpstreams, type TargetReport } from '../../src/http/sum-upstreams.ts'
import { freePort } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'

async function startAnswering(text: string): Promise<number> {
  const server = createServer((_, reply) => reply.end(text)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('postern upstreams', () => {
  test('shows the targets of a running gateway, with their last errors', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [dead], breaker: { failures: 2 } } } },
    })
    const ops = `http://127.0.0.1:${postern.opsPort}`
    const before = await runCommand(['upstreams', '--ops', ops])
    for (let turn = 0; turn < 3; turn++)
      await postern.call('GET /api/v1/public/a', { as: 'editor' })
    const after = await runCommand(['upstreams', '--ops', ops])
    const { out } = await runCommand(['upstreams', '--ops', ops, '--output', 'json'])
    const [backend] = JSON.parse(out).upstreams

    expect(before.out).toMatch(/^UPSTREAM +TARGET +WEIGHT +STATE/)
    expect(before.out).toMatch(new RegExp(`^backend +${dead} .*serving`, 'm'))
    expect(after.code).toBe(0)
    expect(after.out).toMatch(/circuit open.*ECONNREFUSED/)
    expect(backend).toMatchObject({ name: 'backend', balance: 'round-robin' })
    expect(backend.targets[0]).toMatchObject({
      target: dead,
      weight: 1,
      circuit: 'open',
      outstanding: 0,
    })
    expect(Date.parse(backend.targets[0].lastError.at)).toBeGreaterThan(0)
  })

  test('shows the share of failed requests, where it counts', async () => {
    const counted = { ...idle, target: 'http://b:1', recentRequests: 40, recentFailures: 12 }
    const upstreams = [{ name: 'a', balance: 'round-robin', targets: [idle, counted] }]
    const port = await startAnswering(JSON.stringify({ upstreams }))
    const { out } = await runCommand(['upstreams', '--ops', `http://127.0.0.1:${port}`])

    expect(out).toMatch(/^UPSTREAM .* EJECTIONS +FAILED +LAST ERROR$/m)
    expect(out).toMatch(/http:\/\/a:1 .* 0 +- +-$/m)
    expect(out).toMatch(/http:\/\/b:1 .* 0 +30% of 40 +-$/m)
  })

  test('finds the ops listener through the configuration', async () => {
    const port = await startAnswering('{"upstreams":[]}')
    const env = {
      POSTERN_CONFIG: 'config/postern.yaml',
      POSTERN_OPS__HOST: '0.0.0.0',
      POSTERN_OPS__PORT: String(port),
    }

    expect(await runCommand(['upstreams'], { env })).toMatchObject({
      code: 0,
      err: 'postern: the gateway has no upstreams\n',
    })
    const any = await runCommand(['upstreams'], { env: { ...env, POSTERN_OPS__PORT: '0' } })
    expect(any).toMatchObject({ code: 3, out: '' })
    expect(any.err).toContain('--ops URL')
  })

  test.each([
    ['text', 'without JSON'],
    ['{"code":404}', 'older than this command'],
  ])('says what is wrong with the answer %j', async (answer, message) => {
    const ops = `http://127.0.0.1:${await startAnswering(answer)}`

    const { code, err } = await runCommand(['upstreams', '--ops', ops])
    expect([code, err.trim().split('\n').length]).toEqual([5, 1])
    expect(err).toContain(message)
  })

  test('says that nothing listens, and refuses what is not a URL', async () => {
    const ops = `http://127.0.0.1:${await freePort()}`
    const refused = await runCommand(['upstreams', '--ops', ops])
    const usage = await runCommand(['upstreams', '--ops', 'localhost'])

    expect(refused.code).toBe(5)
    expect(refused.err).toBe(
      `postern: the ops listener ${ops} did not answer: connection refused; start the gateway, or name its ops listener with --ops\n`,
    )
    expect(usage.code).toBe(2)
  })
})

describe('while the configuration file is not valid', () => {
  async function ask(words: string, text: string, env: Readonly<Record<string, string>> = {}) {
    const cwd = await mkdtemp(join(tmpdir(), 'postern-invalid-'))
    onTestFinished(() => rm(cwd, { recursive: true }))
    await writeFile(join(cwd, 'c.yaml'), text)
    return runCommand([...words.split(' '), '--config', 'c.yaml'], { cwd, env })
  }

  test('status and upstreams ask the gateway all the same, and say so', async () => {
    const { opsPort } = await startPostern()
    const text = `ops: { port: ${opsPort} }\nroutes: [{ path: x }]\nbanana: 1\n`

    const status = await ask('status', text)
    const upstreams = await ask('upstreams --output json', text)

    expect(status.code).toBe(0)
    expect(status.out).toMatch(/^version .*\n(.*\n)*ready +yes\n/)
    expect(JSON.parse(upstreams.out).upstreams[0].name).toBe('backend')
    for (const { err } of [status, upstreams]) {
      expect(err).toMatch(/^note: the configuration is not valid \(c\.yaml:2:\d+: routes\[0\].*\n$/)
      expect(err).toContain('more problem')
      expect(err).toContain(`asking http://127.0.0.1:${opsPort}, use --ops`)
    }
  })

  test('ops.host and ops.port count as far as they are valid', async () => {
    const port = await startAnswering('{"upstreams":[]}')
    const env = { POSTERN_OPS__PORT: String(port) }

    const host = await ask('upstreams', `ops: { port: ${port}, host: 'a b' }\n`)
    const notYaml = await ask('upstreams', 'ops: [\n', env)
    const noPort = await ask('upstreams', `ops: { port: 0 }\nbanana: 1\n`)

    expect([host.code, notYaml.code, noPort.code]).toEqual([0, 0, 3])
    for (const { err } of [host, notYaml]) expect(err).toContain(`asking http://127.0.0.1:${port}`)
    expect(noPort.err).toContain('--ops URL')
  })

  test('--live says that a gateway responds, ready or not, on the port of the configuration', async () => {
    const { opsPort } = await startPostern()
    const foreign = await startAnswering('{"status":"ok"}')
    const silent = await startAnswering('{"status":"alive"}')

    expect(await ask('status --live', `ops: { port: ${opsPort} }\n`)).toMatchObject({
      code: 0,
      out: 'live\n',
    })
    // It asks for nothing else, such as the version.
    expect(await ask('status --live --output json', `ops: { port: ${silent} }\n`)).toMatchObject({
      code: 0,
      out: '{\n  "live": true\n}\n',
    })
    const other = await ask('status --live', `ops: { port: ${foreign} }\n`)
    expect(other).toMatchObject({ code: 5, out: '' })
    expect(other.err).toContain('did not answer as the ops listener of a gateway')
  })

  test('a file that does not exist is an error: its name is probably mistyped', async () => {
    const missing = await runCommand(['status', '--config', 'none.yaml'])

    expect(missing).toMatchObject({ code: 3, out: '' })
    expect(missing.err).toContain('none.yaml: configuration file does not exist')
  })
})

describe('config check', () => {
  test.each([
    ['[http://a:1, { url: http://b:1, weight: 0 }]', undefined],
    ['[{ url: http://a:1, weight: 0 }]', 'targets: every weight is 0'],
    ['[http://a:1, { url: http://a:1 }]', 'targets[1]: duplicate of upstreams.app.targets[0]'],
    ['[{ url: http://a:1/x }]', 'targets[0]: must end after host and port'],
    ['[{ url: http://a:1, weigth: 2 }]', 'did you mean upstreams.app.targets[0].weight?'],
    ['[{ weight: 2 }]', 'targets[0].url is required'],
    ['[{ url: http://a:1, weight: -1 }]', 'a whole number from 0 to 1000'],
    ['[5]', 'targets[0]: must be text, or a mapping, not 5'],
  ])('of targets %s', async (targets, problem) => {
    const cwd = await mkdtemp(join(tmpdir(), 'postern-targets-'))
    onTestFinished(() => rm(cwd, { recursive: true }))
    await writeFile(join(cwd, 'c.yaml'), `upstreams: { app: { targets: ${targets} } }\n`)
    const env = { POSTERN_JWT__SECRET: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OQ' }
    const { err } = await runCommand(['config', 'check', 'c.yaml', '--no-files'], { cwd, env })

    if (problem === undefined) expect(err).not.toContain('targets')
    else expect(err).toContain(problem)
  })
})

test('the reports of workers add up, and the worst state counts', () => {
  const report = (target: Partial<TargetReport>) => [
    { name: 'a', balance: 'round-robin', targets: [{ ...idle, ...target }] },
  ]
  const old = { message: 'old', at: '2026-01-01T00:00:00.000Z' }
  const late = { message: 'late', at: '2026-01-01T00:00:01.000Z' }
  const sum = sumUpstreams([
    report({ outstanding: 1, circuit: 'open', lastError: late, recentRequests: 6 }),
    report({ outstanding: 2, tunnels: 1, connections: 3, lastError: old, healthy: false }),
    report({ circuit: 'half-open', recentRequests: 4, recentFailures: 2 }),
  ])

  expect(sum).toEqual(
    report({
      ...{ outstanding: 3, tunnels: 1, connections: 3, circuit: 'open' },
      ...{ healthy: false, lastError: late, recentRequests: 10, recentFailures: 2 },
    }),
  )
})

const idle: TargetReport = {
  target: 'http://a:1',
  weight: 1,
  sharePercent: 100,
  circuit: 'closed',
  healthy: true,
  ejectedMs: 0,
  ejections: 0,
  recentRequests: 0,
  recentFailures: 0,
  outstanding: 0,
  tunnels: 0,
  connections: 0,
  lastError: null,
}
