import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { createLog } from '../../src/log/log.ts'
import { serve } from '../../src/serve/serve.ts'
import { person } from '../signing/key-pairs.ts'
import { createCertificates } from '../support/certificates.ts'
import { newKey } from '../support/keys.ts'
import { loneGatewayConfig, type Sections } from '../support/lone-gateway-config.ts'
import { runCommand } from '../support/run-command.ts'

const withPage = { cookie: { set: true }, login: { page: { enabled: true } } }

/** A directory with a configuration and whatever files it names, which are paths below it. */
async function configured(sections: Sections, files: Readonly<Record<string, string>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-check-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(directory, name, '..'), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  const config = loneGatewayConfig(directory, 'http://127.0.0.1:9', sections)
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(config).replaceAll('DIRECTORY', directory))
  return { directory, file }
}

function check(file: string, ...args: readonly string[]) {
  return runCommand(['config', 'check', file, ...args], { cwd: process.cwd() })
}

/** Why a gateway does not start with it; nothing when it does. */
async function refusalOfServe(file: string): Promise<string | undefined> {
  const sink = new Writable({ write: (_, __, done) => done() })
  try {
    const config = loadConfig({ file, env: {}, cwd: process.cwd() })
    const running = await serve({ config, log: createLog('info', sink) })
    await running.close()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const secret = 'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGuE1aWi'
const tls = { certFile: 'DIRECTORY/tls.crt', keyFile: 'DIRECTORY/tls.key' }
const ann = person('ann')
const trusting = (keys: readonly string[], signatures = 1): Sections => ({
  redis: { url: 'redis://127.0.0.1:9', connectTimeoutMs: 100 },
  policy: { source: 'redis', trust: { keys, signatures } },
})
const target = (tlsOf: object) => ({ targets: ['https://127.0.0.1:9'], tls: tlsOf })

describe('config check rejects what serve rejects', () => {
  test.each<[string, Sections, Readonly<Record<string, string>>, RegExp]>([
    ['a certificate that is missing', { tls }, {}, /tls: .*tls\.crt cannot be read \(ENOENT\)/],
    [
      'a certificate that is none',
      { tls },
      { 'tls.crt': 'x', 'tls.key': 'y' },
      /tls: .*tls\.crt contains no PEM certificate/,
    ],
    [
      'an authority for an upstream that is missing',
      { upstreams: { backend: target({ caFile: 'DIRECTORY/ca.crt' }) } },
      {},
      /upstreams\.backend\.tls: .*ca\.crt cannot be read \(ENOENT\)/,
    ],
    [
      'a logo that is missing',
      { cookie: { set: true }, login: { page: { enabled: true, logo: 'DIRECTORY/none.svg' } } },
      {},
      /none\.svg:? cannot be read as logo of the login page \(ENOENT\)/,
    ],
    [
      'a logo that is no picture',
      { cookie: { set: true }, login: { page: { enabled: true, logo: 'DIRECTORY/logo.svg' } } },
      { 'logo.svg': '<html><svg></svg></html>' },
      /logo\.svg:? is neither SVG, PNG nor WebP/,
    ],
    [
      'a logo that is too large',
      { cookie: { set: true }, login: { page: { enabled: true, logo: 'DIRECTORY/logo.svg' } } },
      { 'logo.svg': `<svg>${' '.repeat(262_144)}</svg>` },
      /logo\.svg:? is larger than 256 KiB/,
    ],
    [
      'pages that are missing',
      { ...withPage, pages: { directory: 'DIRECTORY/pages' } },
      {},
      /pages\.directory: .*pages cannot be read as directory of pages \(ENOENT\)/,
    ],
    [
      'a page with an unknown placeholder',
      { ...withPage, pages: { directory: 'DIRECTORY/pages' } },
      { 'pages/404.html': '<p>{{nmae}}</p>' },
      /404\.html:1: unknown placeholder "nmae"/,
    ],
    [
      'a login module with the name of another method',
      { login: { module: 'DIRECTORY/password.mjs' } },
      {
        'password.mjs':
          'export const fields = { phone: {} }; export const verifyCredentials = () => undefined',
      },
      /password\.mjs:? name: "password" is already the name of another login method/,
    ],
    [
      'a key directory that is missing',
      { jwt: { keyDirectory: 'DIRECTORY/keys' } },
      {},
      /jwt\.keyDirectory: .*keys cannot be read \(ENOENT\)/,
    ],
    [
      'a key that is none',
      { jwt: { keyDirectory: 'DIRECTORY/keys' } },
      { 'keys/a.pem': 'not a key' },
      /a\.pem/,
    ],
    [
      'a policy directory that is missing',
      { policy: { directory: 'DIRECTORY/policies' } },
      {},
      /policy\.directory: .*policies cannot be read \(ENOENT\)/,
    ],
    [
      'a policy with a mistake, at its line',
      { policy: { directory: 'DIRECTORY/policies' } },
      {
        'policies/model.conf': '',
        'policies/policy.csv': 'p, editor, no-slash, GET\n',
      },
      /policies\/(?:model\.conf|policy\.csv):\d+/,
    ],
    [
      'a file with trusted keys that is missing',
      trusting(['DIRECTORY/people']),
      {},
      /policy\.trust\.keys\[0\]: .*people cannot be read \(ENOENT\)/,
    ],
    [
      'a trusted key under two names, at its line',
      trusting([ann.line, 'DIRECTORY/people'], 2),
      { people: `# signers\n${ann.line}-laptop\n` },
      /people:2: is listed already \(policy\.trust\.keys\[0\]: ann\): list each key once/,
    ],
    [
      'more signatures than keys, at its setting',
      trusting([ann.line], 2),
      {},
      /postern\.yaml:\d+:\d+: policy\.trust\.signatures: is 2, but policy\.trust\.keys has 1/,
    ],
    [
      'a decision log in a directory that is missing',
      { logger: { decisions: { enabled: true, file: 'DIRECTORY/none/decisions.log' } } },
      {},
      /logger\.decisions\.file: .*decisions\.log cannot be written \(ENOENT\)/,
    ],
    [
      'a decision log that is a directory',
      { logger: { decisions: { enabled: true, file: 'DIRECTORY/log' } } },
      { 'log/x': '' },
      /logger\.decisions\.file: .*log cannot be written \(EISDIR\)/,
    ],
    [
      'a data directory that is a file',
      {
        application: { host: '127.0.0.1', port: 0, dataDirectory: 'DIRECTORY/file/data' },
        database: {},
      },
      { file: '' },
      /application\.dataDirectory: .*file\/data cannot be written \(ENOTDIR\)/,
    ],
    [
      'an address of another machine',
      { ops: { host: '192.0.2.77', port: 0 } },
      {},
      /ops\.host: cannot listen on 192\.0\.2\.77 \(EADDRNOTAVAIL\)/,
    ],
    [
      'a name without an address',
      { application: { host: 'gateway.invalid', port: 0, dataDirectory: 'DIRECTORY/data' } },
      {},
      /application\.host: cannot listen on gateway\.invalid \((?:ENOTFOUND|EAI_AGAIN)\)/,
    ],
    [
      'an address with a port',
      { application: { host: '127.0.0.1:8000', port: 0, dataDirectory: 'DIRECTORY/data' } },
      {},
      /application\.host: "127\.0\.0\.1:8000" is not an address or a host name: set application\.host to 127\.0\.0\.1 and application\.port to 8000/,
    ],
    [
      'an address that is none',
      { ops: { host: '127.0.0.300', port: 0 } },
      {},
      /ops\.host: "127\.0\.0\.300" is not an IPv4 address/,
    ],
  ])('%s', async (_, sections, files, message) => {
    const { file } = await configured(sections, files)

    const { code, err } = await check(file)

    expect(err).toMatch(message)
    expect(code).toBe(3)
    expect(await refusalOfServe(file)).toBeDefined()
  })

  test('a key that is not that of the certificate', async () => {
    const [one, other] = [await createCertificates(), await createCertificates()]
    onTestFinished(async () => void (await Promise.all([one.remove(), other.remove()])))
    const { file } = await configured({ tls: { certFile: one.certificate, keyFile: other.key } })

    expect((await check(file)).err).toMatch(/does not match the certificate/)
    expect(await refusalOfServe(file)).toMatch(/does not match the certificate/)
  })

  test('an OpenAPI document that is missing, which a gateway does not need', async () => {
    const { file } = await configured({ policy: { openapi: ['DIRECTORY/orders.yaml'] } })

    const { code, err } = await check(file)

    expect(code).toBe(3)
    expect(err).toMatch(/policy\.openapi\[0\]: .*orders\.yaml does not exist/)
  })

  test('an assertion that no key can sign', async () => {
    const identity = { assertion: { enabled: true } }
    const keys = { 'keys/a.pem': newKey().publicPem }
    const { file } = await configured(
      { identity, jwt: { secret, keyDirectory: 'DIRECTORY/keys' } },
      keys,
    )

    expect((await check(file)).err).toMatch(/identity\.assertion requires one private key/)
    expect(await refusalOfServe(file)).toMatch(/identity\.assertion/)
  })

  test('all of it at once, at the settings that name the files', async () => {
    const { file } = await configured({
      tls,
      jwt: { keyDirectory: 'DIRECTORY/keys' },
      policy: { directory: 'DIRECTORY/policies' },
    })

    const { err } = await check(file)

    const settings = [...err.matchAll(/postern\.yaml:\d+:\d+: ([\w.]+): /g)].map(([, name]) => name)
    expect(settings).toEqual(['tls', 'tls', 'jwt.keyDirectory', 'policy.directory'])
    const { out } = await check(file, '--output', 'json')
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: { length: 4 } })
  })

  test('files too when a setting is wrong, without complaining twice', async () => {
    const { file } = await configured({
      tls,
      application: { host: '127.0.0.1:80', port: 'x', dataDirectory: 'DIRECTORY/none/data' },
      database: { url: 'mysql://x' },
      routs: [],
    })

    const { code, err } = await check(file)

    const settings = [...err.matchAll(/postern\.yaml:\d+:\d+: (?:unknown setting )?([\w.]+)/g)]
    expect(settings.map(([, name]) => name).toSorted()).toEqual([
      'application.host',
      'application.port',
      'database.url',
      'routs',
      'tls',
      'tls',
    ])
    expect(code).toBe(3)
  })

  test('and accepts what serve accepts', async () => {
    const certificates = await createCertificates()
    onTestFinished(certificates.remove)
    const { file, directory } = await configured(
      {
        tls: { certFile: certificates.certificate, keyFile: certificates.key },
        jwt: { keyDirectory: 'DIRECTORY/keys' },
        policy: { directory: 'DIRECTORY/policies' },
        logger: { decisions: { enabled: true, file: 'DIRECTORY/decisions.log' } },
        upstreams: { backend: target({ caFile: certificates.authority }) },
      },
      { 'keys/a.pem': newKey().privatePem },
    )
    await cp('policies', join(directory, 'policies'), { recursive: true })

    expect(await check(file)).toMatchObject({ code: 0, err: '' })
    expect(await refusalOfServe(file)).toBeUndefined()
  })

  test('without looking at files that this machine does not have, where it is told so', async () => {
    const { file } = await configured({ tls, jwt: { keyDirectory: 'DIRECTORY/keys' } })

    expect(await check(file, '--no-files')).toMatchObject({ code: 0, err: '' })
    expect((await check(file)).code).toBe(3)
  })
})

describe('a target that is the gateway itself', () => {
  const address = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

  const listening = (host: string, port = 8000) => ({ host, port, dataDirectory: 'DIRECTORY/data' })

  test.each<[string, string, string]>([
    ['0.0.0.0', 'http://127.0.0.1:8000', 'application'],
    ['0.0.0.0', 'http://127.0.0.53:8000', 'application'],
    ['0.0.0.0', 'http://localhost:8000', 'application'],
    ['0.0.0.0', 'http://0.0.0.0:8000', 'application'],
    ['::', 'http://[::1]:8000', 'application'],
    ['127.0.0.1', 'http://localhost:8000', 'application'],
    ['localhost', 'http://localhost.:8000', 'application'],
    ['0.0.0.0', 'http://app.localhost:8000', 'application'],
    ['0:0::1', 'http://[::1]:8000', 'application'],
    ['::', 'http://[::ffff:127.0.0.1]:8000', 'application'],
    ['127.0.0.1', 'http://[::ffff:7f00:1]:8000', 'application'],
    ['gateway.example', 'http://Gateway.example:8000', 'application'],
    ['0.0.0.0', `http://${hostname()}:8000`, 'application'],
    ['0.0.0.0', `http://${hostname()}.:8000`, 'application'],
    ...(address === undefined
      ? []
      : [['0.0.0.0', `http://${address}:8000`, 'application'] as [string, string, string]]),
    ['0.0.0.0', 'http://127.0.0.1:9100', 'ops'],
  ])('listening on %s, target %s, is rejected', async (host, origin, own) => {
    const { file } = await configured({
      application: listening(host),
      ops: { host: '0.0.0.0', port: 9100 },
      upstreams: { backend: { targets: [origin] } },
    })

    const { code, err } = await check(file, '--no-files')

    expect(err).toContain(`targets[0]: ${origin} is this gateway itself (${own}.port)`)
    expect(code).toBe(3)
    expect(await refusalOfServe(file)).toContain('is this gateway itself')
  })

  test('by the default port of its scheme too', async () => {
    const { file } = await configured({
      application: listening('0.0.0.0', 80),
      upstreams: { backend: { targets: ['http://127.0.0.1'] } },
    })

    expect((await check(file, '--no-files')).err).toContain('is this gateway itself')
  })

  test.each([
    ['127.0.0.1', 'http://127.0.0.2:8000'],
    ['127.0.0.1', 'http://127.0.0.1:8001'],
    ['127.0.0.1', 'http://[::1]:8000'],
    ['0.0.0.0', 'http://[::1]:8000'],
    ['127.0.0.2', 'http://0.0.0.0:8000'],
    ['0.0.0.0', 'http://orders:8000'],
    ['10.0.0.1', 'http://127.0.0.1:8000'],
  ])('is not one elsewhere: listening on %s, target %s', async (host, origin) => {
    const { file } = await configured({
      application: listening(host),
      upstreams: { backend: { targets: [origin] } },
    })

    expect(await check(file, '--no-files')).toMatchObject({ code: 0 })
  })
})
