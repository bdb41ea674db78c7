import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createClockSamples } from '../../src/operations/doctor/clock.ts'
import { reportCertificate } from '../../src/operations/doctor/expiry.ts'
import { type Check, runChecks } from '../../src/operations/doctor/run-checks.ts'
import { sentCommands } from '../../src/stores/redis/redis-rights.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import { startCollector } from '../support/collector.ts'
import { examine, ownDirectory, patience } from '../support/examine.ts'
import { gatewayRights } from '../support/redis-users.ts'
import { runCommand } from '../support/run-command.ts'

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})
afterAll(() => certificates.remove())

/** What one check finds first. */
async function found(run: Check['run']) {
  return (await runChecks([{ name: 'it', run }], 1000))[0]
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())))
  return (server.address() as AddressInfo).port
}

function upstream(target: string, more: object = {}) {
  return {
    upstreams: { app: { targets: [target], connectTimeoutMs: 60_000, ...more } },
    routes: [{ path: '/', upstream: 'app' }],
  }
}

describe('doctor and the collector of spans', () => {
  async function asked(otlp: string) {
    const { of, code } = await examine({ tracing: { otlp } })
    return { code, finding: of('tracing.otlp')[0] }
  }

  test('one that accepts spans is ok', async () => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    const { finding } = await asked(collector.origin)

    expect(finding).toMatchObject({
      status: 'ok',
      message: `${collector.origin}/v1/traces accepts spans`,
    })
    expect(collector.exports).toMatchObject([{ path: '/v1/traces', spans: [] }])
  })

  test.each([
    [404, /correct the path/],
    [401, /without a login/],
    [415, /as JSON/],
    [500, /log of the collector/],
  ])('one that answers %i is a warning with a fix', async (status, fix) => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    collector.answerWith((response) => response.writeHead(status).end())
    const { code, finding } = await asked(collector.origin)

    expect(code).toBe(0)
    expect(finding).toMatchObject({ status: 'warning', fix: expect.stringMatching(fix) })
  })

  test('one that does not run is a warning', async () => {
    const { finding } = await asked('http://127.0.0.1:1')

    expect(finding?.status).toBe('warning')
    expect(finding?.fix).toMatch(/start the collector there/)
  })
})

test('doctor warns while the file with the first passwords exists', async () => {
  const directory = await ownDirectory()
  await writeFile(join(directory, 'first-passwords.txt'), 'admin a-password\n')
  const application = { mode: 'test', host: '127.0.0.1', port: 0, dataDirectory: directory }
  const { of, out } = await examine({ application })

  expect(of('first passwords')).toMatchObject([
    { status: 'warning', message: expect.stringMatching(/first-passwords\.txt still exists$/) },
  ])
  expect(out).not.toContain('a-password')
})

describe('doctor on a sound machine', () => {
  test('finds no problem, says so in one line for each check, and creates nothing', async () => {
    const port = await listening(createServer((socket) => socket.destroy()))
    const examined = await examine(upstream(`http://127.0.0.1:${port}`))

    expect(examined.problems).toEqual([])
    expect(examined).toMatchObject({ code: 0, ok: true, err: '' })
    expect(examined.of('policy.directory')[0]?.message).toMatch(/rules, revision r-/)
    expect(examined.of('application.port')[0]?.message).toMatch(/is free$/)
    expect(examined.of('upstreams.app')[0]?.message).toMatch(/accepts connections$/)
    expect(examined.of('database')[0]?.message).toMatch(/the first start creates it/)
    expect(existsSync(join(examined.directory, 'data'))).toBe(false)

    const text = await runCommand(['doctor', examined.file, ...patience])
    expect(text.code).toBe(0)
    expect(text.out).toMatch(/^ok {7}node {23}Node \d+/)
    expect(text.out).toMatch(
      /\n\n0 problems, \d warnings?: "postern serve" would start and work\n$/,
    )
  })

  test('asks for no secret, and prints none', async () => {
    const examined = await examine({
      redis: { url: 'redis://user:hidden-word@127.0.0.1:1', connectTimeoutMs: 60_000 },
      database: {
        url: 'postgres://user:hidden-word@127.0.0.1:1/name',
        connectTimeoutMs: 60_000,
      },
    })

    expect(examined.code).toBe(1)
    expect(examined.out).not.toContain('hidden-word')
    expect(examined.of('redis')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('127.0.0.1:1 (standalone): connect ECONNREFUSED'),
      fix: 'start Redis there, or correct redis.url',
    })
    expect(examined.of('database')[0]?.message).toContain('127.0.0.1:1/name')
  })
})

describe('doctor and the configuration', () => {
  test('reports a missing file and goes on', async () => {
    const { code, out } = await runCommand(['doctor', '/nowhere/postern.yaml'])

    expect(code).toBe(1)
    expect(out).toMatch(/^problem {2}configuration {2}\/nowhere\/postern\.yaml: .*does not exist$/m)
  })

  test('checks everything else although the secret is missing', async () => {
    const examined = await examine({ jwt: {}, ...upstream('http://127.0.0.1:1') })

    expect(examined.of('configuration')[0]?.message).toMatch(/jwt\.secret is required/)
    expect(examined.of('upstreams.app')[0]).toMatchObject({ status: 'problem' })
  })

  test('says what it left out when another setting is wrong', async () => {
    const examined = await examine({ nonsense: true })

    expect(examined.of('configuration')[0]?.message).toMatch(/unknown setting nonsense/)
    expect(examined.of('stores')[0]).toMatchObject({
      status: 'warning',
      fix: 'correct the settings that the problems above name, then run "postern doctor" again',
    })
    expect(examined.of('policy.directory')[0]).toMatchObject({ status: 'ok' })
  })

  test('counts the warnings of policy check by their codes', async () => {
    const directory = await ownDirectory()
    const model = await readFile('policies/model.conf')
    await writeFile(join(directory, 'model.conf'), model)
    const rule = 'p, clerk, /orders, GET\n'
    await writeFile(join(directory, 'policy.csv'), `${rule}${rule}p, clerk, /outside, GET\n`)
    const examined = await examine({
      ...upstream('http://127.0.0.1:1'),
      routes: [{ path: '/orders', upstream: 'app' }],
      policy: { directory },
    })

    expect(examined.of('policy')).toEqual([
      {
        ...{ check: 'policy', status: 'warning', fix: '"postern policy check" shows each of them' },
        message: '2 warnings: 1 duplicate, 1 unserved-path',
      },
    ])
  })

  test('reports a policy and a data directory that cannot be used', async () => {
    const directory = await ownDirectory()
    const file = join(directory, 'file')
    await writeFile(file, '')
    const examined = await examine({
      application: { mode: 'test', port: 0, dataDirectory: join(file, 'data') },
      policy: { directory },
    })

    expect(examined.of('policy.directory')[0]).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('postern policy check'),
    })
    expect(examined.of('application.dataDirectory')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('cannot be written (ENOTDIR)'),
    })
  })

  test('warns of private keys that others can read', async () => {
    const keys = join(await ownDirectory(), 'keys')
    await mkdir(keys)
    const { key } = await certificates.issue('localhost')
    const file = join(keys, 'first.pem')
    await writeFile(file, await readFile(key), { mode: 0o400 })
    const sound = await examine({ jwt: { keyDirectory: keys } })
    expect(sound.of('jwt.keyDirectory')).toMatchObject([
      { status: 'ok', message: `${keys}: 1 key, first signs` },
    ])

    await chmod(file, 0o644)
    const exposed = await examine({ jwt: { keyDirectory: keys } })
    expect(exposed.of('jwt.keyDirectory')[1]).toMatchObject({
      status: 'warning',
      fix: `chmod 0400 ${file}`,
    })
  })
})

describe('doctor and certificates', () => {
  test('warns before one expires, and reports an expired one and a key of another', async () => {
    const tls = { certFile: certificates.certificate, keyFile: certificates.key }
    const soon = await examine({ tls })
    expect(soon.of('tls')[0]).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/certificate for DNS:localhost expires on /),
    })
    expect(soon.code).toBe(0)

    const other = await certificates.issue('localhost')
    const mixed = await examine({ tls: { ...tls, keyFile: other.key } })
    expect(mixed.of('tls')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('does not match the certificate'),
    })

    const fix = 'renew it'
    const past = new Date(Date.now() - 1000)
    expect(await found((report) => reportCertificate(report, 'it', past, fix))).toMatchObject({
      status: 'problem',
      fix,
    })
  })

  test('verifies those of targets as a request does', async () => {
    const pem = async (name: string) => readFile(name, 'utf8')
    const [cert, key] = [await pem(certificates.certificate), await pem(certificates.key)]
    const port = await listening(createTlsServer({ cert, key }, (socket) => socket.end()))
    const target = `https://localhost:${port}`

    const unknown = await examine(upstream(target))
    expect(unknown.of('upstreams.app')[0]).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('upstreams.app.tls.caFile'),
    })
    const known = await examine(upstream(target, { tls: { caFile: certificates.authority } }))
    expect(known.of('upstreams.app')[0]).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/accepts connections, certificate expires on/),
    })
    const named = await examine(
      upstream(`https://127.0.0.1:${port}`, {
        tls: { caFile: certificates.authority, serverName: 'elsewhere.example' },
      }),
    )
    expect(named.of('upstreams.app')[0]).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('a name that is in its certificate'),
    })
    const tls = { caFile: certificates.authority }
    const http2 = await examine(upstream(target, { tls, protocol: 'h2' }))
    expect(http2.of('upstreams.app')[0]).toMatchObject({
      status: 'problem',
      message: `${target} cannot be reached: it does not offer HTTP/2 in TLS (ALPN)`,
      fix: 'set upstreams.app.protocol to http1 or auto, or turn HTTP/2 on in the service',
    })
  })
})

describe('doctor and targets', () => {
  test('warns of one that is down while another one serves', async () => {
    const port = await listening(createServer((socket) => socket.destroy()))
    const targets = [`http://127.0.0.1:${port}`, 'http://127.0.0.1:1']
    const examined = await examine({
      upstreams: { app: { targets, connectTimeoutMs: 60_000 } },
      routes: [{ path: '/', upstream: 'app' }],
    })

    expect(examined.of('upstreams.app').map(({ status }) => status)).toEqual(['ok', 'warning'])
    expect(examined.code).toBe(0)
  })
})

describe('doctor and ports', () => {
  test('names the program that uses one', async () => {
    const port = await listening(createServer())
    const examined = await examine({
      application: { mode: 'test', host: '127.0.0.1', port, dataDirectory: await ownDirectory() },
    })

    expect(examined.of('application.port')[0]).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(/is in use by \S+ \(pid \d+\)$/),
      fix: 'stop the other program, or choose another application.port',
    })
    expect(examined.of('application.port')[0]?.message).toContain(`(pid ${process.pid})`)
  })

  test('knows a gateway by its ops listener', async () => {
    const opsPort = await listening(
      createHttpServer((_, response) => response.end('{"version":"9.9.9","mode":"test"}')),
    )
    const port = await listening(createServer())
    const examined = await examine({
      application: { mode: 'test', host: '127.0.0.1', port, dataDirectory: await ownDirectory() },
      ops: { host: '127.0.0.1', port: opsPort },
    })

    expect(examined.of('ops.port')[0]?.message).toMatch(/is in use by the running Postern 9\.9\.9/)
    expect(examined.of('application.port')[0]).toMatchObject({ status: 'ok' })
    expect(examined.code).toBe(0)
  })

  test('reports a host of another machine', async () => {
    const examined = await examine({ ops: { host: '192.0.2.1', port: 9100 } })

    expect(examined.of('ops.port')[0]).toMatchObject({
      status: 'problem',
      message: 'cannot listen on 192.0.2.1:9100 (EADDRNOTAVAIL)',
    })
  })
})

describe('doctor and limits', () => {
  test('warns of a descriptor limit below limits.connections', async () => {
    const examined = await examine({ limits: { connections: 1_000_000 } })

    expect(examined.of('descriptors')[0]).toMatchObject({
      status: 'warning',
      fix: expect.stringContaining('LimitNOFILE'),
    })
  })

  test('compares clocks as exactly as they were read', async () => {
    const sample = (theirs: number, stepMs = 0) => {
      const clock = createClockSamples()
      clock.add({ source: 'Redis', theirs, askedAt: 100_000, answeredAt: 104_000, stepMs })
      return found((report) => clock.report(report, 60))
    }

    expect(await sample(100_500)).toMatchObject({ status: 'ok' })
    expect(await sample(95_500, 1000)).toMatchObject({ status: 'ok' })
    expect(await sample(90_000)).toMatchObject({
      status: 'warning',
      message: 'this machine is 10.0 s ahead of Redis',
    })
    expect(await sample(200_000)).toMatchObject({
      status: 'problem',
      message: 'this machine is 96.0 s behind Redis, more than jwt.clockSkewSeconds (60)',
    })
  })

  test('ends a check that hangs', async () => {
    const silent = createHttpServer(() => {})
    const port = await listening(silent)
    onTestFinished(() => silent.closeAllConnections())
    const examined = await examine({ ops: { host: '127.0.0.1', port } }, ['--timeout', '1'])

    expect(examined.of('ports')[0]).toMatchObject({
      status: 'problem',
      message: 'timeout: this check did not finish within 1 s',
    })
  })

  test('asks Redis for the rights that the documentation grants', () => {
    const granted = gatewayRights.filter((right) => right.startsWith('+'))

    expect(
      sentCommands('')
        .map(([name]) => `+${name}`)
        .toSorted(),
    ).toEqual(granted.filter((right) => right !== '+eval').toSorted())
  })
})
