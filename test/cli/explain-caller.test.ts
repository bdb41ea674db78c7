import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { postLogin } from '../support/log-in.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { prefix, testRedis } from '../support/published-policies.ts'
import { type Ran, runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'
import { forge, nowSeconds, testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { folder } from './policy-runner.ts'

type Settings = Readonly<Record<string, unknown>>

const routes = [
  { path: '/orders', upstream: 'a' },
  { path: '/open', upstream: 'a', access: 'public', reason: 'for a test' },
  { path: '/menu', upstream: 'a', access: 'authenticated' },
]

/** A configuration, a policy, and the accounts that every test shares, in a database that is open. */
async function workspace(changes: Settings = {}) {
  const base = {
    application: { mode: 'prod', dataDirectory: inject('sharedData') },
    jwt: { secret: testSecret },
    upstreams: { a: { targets: ['http://127.0.0.1:1'] } },
    routes,
  }
  const cwd = await folder({
    'postern.yaml': stringify({ ...base, ...changes }),
    'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
    'policies/policy.csv': 'p, editor, /orders/:id, GET\n',
  })
  async function run(line: string, stdin = ''): Promise<Ran> {
    return runCommand([...line.split(' '), '--config', 'postern.yaml'], { cwd, stdin })
  }
  return {
    cwd,
    run,
    explain: (line: string, stdin?: string) => run(`policy explain ${line}`, stdin),
    async addUser(role: string): Promise<string> {
      const name = `user-${randomUUID()}`
      expect(await run(`user add ${name} --role ${role}`)).toMatchObject({ code: 0 })
      return name
    },
  }
}

describe('postern policy explain --user', () => {
  test('answers for the role of a service account', async () => {
    const { run, explain } = await workspace()
    const name = `ci-${randomUUID()}`
    await run(`service add ${name} --role editor`)

    const { code, out } = await explain(`--user ${name} GET /orders/7`)

    expect(code).toBe(0)
    expect(out).toContain(`service account  ${name} (ID `)
  })

  test('answers for the role of the account, while a gateway has the database open', async () => {
    const { explain, addUser } = await workspace()
    const ann = await addUser('editor')

    const allowed = await explain(`--user ${ann} GET /orders/7`)
    const denied = await explain(`--user ${ann} PUT /orders/7`)

    expect({ code: allowed.code, err: allowed.err }).toEqual({ code: 0, err: '' })
    expect(allowed.out).toContain(`allowed: ${ann} (role editor) may GET /orders/7\n`)
    expect(allowed.out).toMatch(/\n {2}account {2}user-\S+ \(ID \d+, role editor, data scope 5\)\n/)
    expect(denied).toMatchObject({ code: 1, out: expect.stringContaining('differs in method') })
  })

  test('opens a database that no gateway has open, and leaves the accounts alone', async () => {
    const dataDirectory = join(await folder(), 'data')
    await cp(inject('databaseTemplate'), dataDirectory, { recursive: true })
    const { explain } = await workspace({ application: { mode: 'prod', dataDirectory } })

    const { code, out } = await explain('--user admin DELETE /orders/7 --output json')

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      ...{ allowed: true, step: 'admin', roleKey: 'admin', route: '/orders', policy: 'policies' },
      account: { username: 'admin', roleKey: 'admin', dataScope: '1', enabled: true },
    })
  })

  test('needs no signing secret', async () => {
    const { explain } = await workspace({ jwt: {} })

    expect(await explain('--user editor GET /orders/7')).toMatchObject({ code: 0, err: '' })
  })

  test('gives a disabled account the answer of a request without a token', async () => {
    const { explain, addUser, run } = await workspace()
    const ann = await addUser('editor')
    await run(`user disable ${ann}`)

    const refused = await explain(`--user ${ann} GET /orders/7`)
    const open = await explain(`--user ${ann} GET /open/x`)

    expect(refused.code).toBe(1)
    expect(refused.out).toContain(
      `refused: the gateway answers code 401: ${ann} cannot log in: the account is disabled\n`,
    )
    expect(refused.out).toContain(', role editor, data scope 5), disabled\n')
    expect(refused.err).toContain(`a token that ${ann} got before may still be valid`)
    expect(open).toMatchObject({ code: 0, out: expect.stringContaining(`allowed: ${ann} may GET`) })
  })

  test('notes a lock-out that Redis keeps, and answers for the tokens that stay valid', async () => {
    const redis = await testRedis()
    const config = { redis: { url: redis.url, prefix }, login: { failuresPerAccount: 1 } }
    const { explain, addUser } = await workspace(config)
    const [ann, bob] = [await addUser('editor'), await addUser('editor')]
    const gateway = await startPostern({
      config: { ...config, application: { mode: 'dev', dataDirectory: inject('sharedData') } },
    })
    const guess = { username: ann, password: 'wrong', uuid: '-', code: '-' }
    await until(async () => {
      const { code } = (await postLogin(gateway, guess)).json() as { readonly code: number }
      return code === 429
    })

    const locked = await explain(`--user ${ann} GET /orders/7`)
    const other = await explain(`--user ${bob} GET /orders/7`)
    await redis.kill()
    const unknown = await explain(`--user ${ann} GET /orders/7`)

    expect(locked.code).toBe(0)
    expect(locked.err).toMatch(/^note: logins of user-\S+ are locked out for \d+ s after wrong/)
    expect(other).toMatchObject({ code: 0, err: '' })
    expect(unknown).toMatchObject({ code: 0, err: '' })
  })

  test('says in one line that an account does not exist, and exits with 5', async () => {
    const { explain } = await workspace()

    expect(await explain('--user nobody-of-that-name GET /orders/7')).toEqual({
      code: 5,
      out: '',
      err: 'postern: user "nobody-of-that-name" does not exist: "postern user list" shows all users\n',
    })
  })

  test('creates no database where none is', async () => {
    const dataDirectory = join(await folder(), 'data')
    const { explain } = await workspace({ application: { mode: 'prod', dataDirectory } })

    const { code, err } = await explain('--user ann GET /orders/7')

    expect({ code, err }).toEqual({
      code: 5,
      err: `postern: ${dataDirectory} has no embedded database: give the configuration of the gateway with --config\n`,
    })
    expect(existsSync(dataDirectory)).toBe(false)
  })

  test('asks PostgreSQL, creates no table there, and exits with 5 when it is unreachable', async () => {
    const server = await startPostgres()
    onTestFinished(server.stop)
    const database = { url: server.url, connectTimeoutMs: 1000 }
    const { explain, run, addUser } = await workspace({ database })

    const empty = await explain('--user ann GET /orders/7')
    const tables = await server.query("select 1 from pg_tables where tablename = 'sys_user'")
    await run('db migrate')
    const ann = await addUser('editor')
    const found = await explain(`--user ${ann} GET /orders/7`)
    await server.query("update sys_role set deleted_at = now() where role_key = 'editor'")
    const withoutRole = await explain(`--user ${ann} GET /orders/7`)
    await server.kill()
    const unreachable = await explain(`--user ${ann} GET /orders/7`)

    expect(empty).toMatchObject({ code: 3, err: expect.stringContaining('sys_user') })
    expect(tables).toEqual([])
    expect(found).toMatchObject({ code: 0, err: '' })
    expect(withoutRole).toMatchObject({ code: 1, out: expect.stringContaining('without a role') })
    expect(withoutRole.out).toContain('cannot log in: the account has no role')
    expect(unreachable).toMatchObject({ code: 5, out: '' })
    expect(unreachable.err).toMatch(/^postern: [^\n]+\n$/)
  })
})

const signatureOf = (token: string) => token.split('.')[2] ?? ''

describe('postern policy explain --token', () => {
  test('answers for the owner of the token, and never prints it', async () => {
    const { explain } = await workspace()
    const token = tokenOf('editor', { nice: 'ann\u001b[2J' })

    const text = await explain('--token - GET /orders/7', `Bearer ${token}\n`)
    const inJson = await explain('--token - PUT /orders/7 --output json', token)

    expect(text).toMatchObject({ code: 0, err: '' })
    expect(text.out).toMatch(/^allowed: ann\\u\{1b\}\[2J \(role editor\) may GET \/orders\/7\n/)
    expect(text.out).toMatch(
      /\n {2}token {3}of ann.+ \(ID 42, role editor, data scope 3\), expires 20/,
    )
    expect(inJson.code).toBe(1)
    expect(JSON.parse(inJson.out)).toMatchObject({
      ...{ allowed: false, step: 'none', roleKey: 'editor' },
      token: { caller: { userId: '42', roleKey: 'editor' } },
    })
    for (const { out, err } of [text, inJson]) expect(out + err).not.toContain(signatureOf(token))
  })

  test('is what a token in place of the role needs, which is not printed', async () => {
    const { explain } = await workspace()
    const token = tokenOf('editor')

    const { code, out, err } = await explain(`${token} GET /orders/7`)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('ROLE is a token: give it on stdin, with --token - in place of ROLE')
    expect(err).not.toContain(signatureOf(token))
  })

  test.each([
    ['has expired', tokenOf('editor', { exp: nowSeconds() - 1 })],
    ['is not valid: wrong signature', forge({ secret: 'another secret, as long as it must be' })],
    ['is not valid: no key for this header', forge({ header: { alg: 'none', typ: 'JWT' } })],
    ['is not valid: not valid yet', tokenOf('editor', { nbf: nowSeconds() + 600 })],
    ['is not valid: issued in the future', tokenOf('editor', { orig_iat: nowSeconds() + 600 })],
    ['is not valid: not a compact JWS', 'no token at all'],
    ['is too long', tokenOf('editor', { exp: nowSeconds() + 1e9 })],
  ])('refuses one that %s, except where no token is needed', async (words, token) => {
    const { explain } = await workspace()

    const refused = await explain('--token - GET /orders/7', token)
    const open = await explain('--token - GET /open/x', token)
    const ambiguous = await explain('--token - GET /open//x', token)

    expect(refused.code).toBe(1)
    expect(refused.out).toMatch(
      /^refused: the gateway answers code 401: the (?:lifetime of the )?token /,
    )
    expect(refused.out).toContain(words)
    expect(refused.out).toContain('route  /orders (access permitted, upstream a)\n')
    expect(open).toMatchObject({
      code: 0,
      out: expect.stringContaining('without a valid token may'),
    })
    expect(ambiguous).toMatchObject({ code: 1, out: expect.stringContaining('answers 400') })
  })

  test('refuses one that is revoked', async () => {
    const { explain, run } = await workspace()
    const [one, other] = [tokenOf('editor'), tokenOf('editor')]
    await run('token revoke --token -', one)

    expect((await explain('--token - GET /menu', one)).out).toContain('401: the token is revoked\n')
    expect(await explain('--token - GET /menu', other)).toMatchObject({ code: 0, err: '' })
  })

  test('asks Redis alone about revocations, and notes when it is unreachable', async () => {
    const redis = await testRedis()
    const { explain, run } = await workspace({ redis: { url: redis.url, prefix } })
    const token = tokenOf('editor')
    await run('token revoke --token -', token)
    const database = { url: 'postgres://postern@127.0.0.1:1/x', connectTimeoutMs: 500 }
    const apart = await workspace({ redis: { url: redis.url, prefix }, database })

    const revoked = await apart.explain('--token - GET /menu', token)
    await redis.kill()
    const unchecked = await explain('--token - GET /menu', token)
    const expired = await explain('--token - GET /menu', tokenOf('editor', { exp: 1 }))

    expect(revoked).toMatchObject({ code: 1, out: expect.stringContaining('the token is revoked') })
    expect(unchecked).toMatchObject({ code: 0, out: expect.stringMatching(/^allowed: /) })
    // No list is needed for a token that is refused without it.
    expect(expired).toMatchObject({ code: 1, err: '' })
    expect(unchecked.err).toMatch(
      /^note: the token counts as not revoked: cannot check it: .*Redis/,
    )
  })

  test.each(['', ' \n', 'Bearer '])('shows its usage for %j on stdin', async (stdin) => {
    const { explain } = await workspace()

    const { code, err } = await explain('--token - GET /menu', stdin)

    expect({ code, out: err.split('\n')[0] }).toEqual({
      code: 2,
      out: 'postern: --token -: stdin has no token',
    })
  })
})

describe('postern policy explain --anonymous', () => {
  test.each([
    ['GET', '/open/x', 0, 'route: allows every caller'],
    ['POST', '/api/v1/login', 0, 'endpoint: the gateway answers this path itself'],
    ['OPTIONS', '*', 0, 'endpoint server'],
    ['GET', '/api/v1/login', 1, 'the gateway answers 405: its own endpoint allows POST only'],
    ['POST', '/api/v1/logout', 1, 'code 401: the request has no token'],
    ['GET', '/menu', 1, 'code 401: the request has no token'],
    ['GET', '/nowhere', 1, 'code 401: the request has no token'],
    ['GET', '/api/v1/refresh_token', 1, 'answers 404'],
  ])('answers for %s %s', async (method, path, code, words) => {
    const { explain } = await workspace()

    const ran = await explain(`--anonymous ${method} ${path}`)

    expect(ran).toMatchObject({ code, err: '', out: expect.stringContaining(words) })
    expect(ran.out).not.toContain('\n  policy ')
  })

  test('reads no policy', async () => {
    const { explain } = await workspace({ policy: { directory: 'nowhere' } })

    const { code, out } = await explain('--anonymous GET /open/x --output json')

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ roleKey: null, policy: null, revision: null })
  })
})

describe('a caller of postern policy explain', () => {
  test.each([
    ['--user ann --token - GET /x', '--user and --token cannot be combined'],
    ['--anonymous --user ann GET /x', '--user and --anonymous cannot be combined'],
    ['--user ann --user bob GET /x', '--user is given twice'],
    ['--user ann editor GET /x', 'too many arguments: expected METHOD PATH: --user replaces ROLE'],
    ['--anonymous GET', 'missing argument PATH'],
    ['editor GET', 'missing argument PATH'],
    ['--user GET /x', 'missing argument PATH'],
    ['-odd GET /x', 'unknown option -o'],
  ])('%s is bad usage', async (line, message) => {
    const { explain } = await workspace()

    const { code, out, err } = await explain(line)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.split('\n')[0]).toContain(`postern: ${message}`)
  })

  test.each(['Élise', '角色', 'p', '*', 'a,b'])('may have the role %s', async (role) => {
    const { explain } = await workspace()

    expect(await explain(`${role} GET /orders/7`)).toMatchObject({
      code: 1,
      out: expect.stringContaining(`denied: ${role} may not GET /orders/7\n`),
    })
  })

  test('may have a role that starts with a dash', async () => {
    const { cwd } = await workspace()
    const args = ['policy', 'explain', '--config', 'postern.yaml', '--', '-odd', 'GET', '/menu']

    expect(await runCommand(args, { cwd })).toMatchObject({
      code: 0,
      out: expect.stringContaining('allowed: -odd may GET /menu\n'),
    })
  })
})
