import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { postLogin } from '../support/log-in.ts'
import { testRedis } from '../support/published-policies.ts'
import { runCommand } from '../support/run-command.ts'
import {
  liveToken,
  overEverywhere,
  type Replicas,
  startReplicas,
  verdictOn,
} from '../support/session-replicas.ts'

const tokens = { service: { enabled: true } }

async function addService({ postern }: Pick<Replicas, 'postern'>, role = 'editor') {
  const name = `ci-${randomUUID()}`
  const { code } = await postern(`service add ${name} --role ${role} --note builds`)
  expect(code).toBe(0)
  return name
}

async function listed({ postern }: Pick<Replicas, 'postern'>, service: string) {
  const { out } = await postern(`token list --service ${service} --output json`)
  return JSON.parse(out) as {
    readonly id: string
    readonly status: string
    readonly role: string
    readonly lastSeen: string | null
  }[]
}

describe('postern service', () => {
  test('remove revokes every token, also those issued where the clock is ahead', async () => {
    const replicas = await startReplicas({ tokens })
    const gateway = await replicas.start()
    const name = await addService(replicas)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
    onTestFinished(() => void vi.useRealTimers())
    const issued = await replicas.postern(`token issue ${name} --expires 1d`)
    vi.useRealTimers()
    const token = issued.out.trim()

    expect(await verdictOn(gateway, token)).toBe('live')
    expect((await replicas.postern(`service remove ${name}`)).code).toBe(0)
    await overEverywhere([gateway], token)
  })

  test('add, list, role and remove do what they say', async () => {
    const { postern } = await startReplicas({})
    const name = `ci-${randomUUID()}`

    const added = await postern(`service add ${name} --role editor --note builds --output json`)
    const { userId } = JSON.parse(added.out) as { userId: string }
    expect(added.err).toBe(`postern: created service account ${name} with role editor\n`)
    expect(JSON.parse(added.out)).toMatchObject({ name, role: 'editor', note: 'builds' })
    expect((await postern('service list')).out).toMatch(
      new RegExp(`^${userId} +${name} +editor +\\S+Z +builds$`, 'm'),
    )
    const changed = await postern(`service role ${name} viewer`)
    expect(changed.err).toBe(
      `postern: service account ${name} now has role viewer; revoked all tokens issued until now\n`,
    )
    const removed = await postern(`service remove ${name} --output json`)
    expect(JSON.parse(removed.out)).toEqual({ done: 'remove', name, userId, tokensEnded: true })
    expect((await postern('service list --output json')).out).not.toContain(name)
  })

  test.each([
    ['service add editor --role editor', /^postern: editor already exists: choose another name$/],
    [
      'service add x --role nothing-at-all',
      /^postern: role "nothing-at-all" does not exist \(defined: .*role add nothing-at-all/,
    ],
    [
      'service role nope editor',
      /^postern: service account "nope" does not exist: "postern service/,
    ],
    ['service remove editor', /^postern: editor is a user, not a service account: users log in/],
    ['token issue nope --expires 1d', /^postern: service account "nope" does not exist/],
    ['token list --service nope', /^postern: service account "nope" does not exist/],
    ['token revoke --id nope', /^postern: no service token has ID "nope": "postern token list"/],
  ])('%s says what to do, and exits with 1', async (line, message) => {
    const { postern } = await startReplicas({ tokens })

    const { code, out, err } = await postern(line)

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err.trimEnd()).toMatch(message)
    expect(err.trimEnd()).not.toContain('\n')
  })

  test('suggests the name that was meant', async () => {
    const replicas = await startReplicas({ tokens })
    const name = await addService(replicas)

    const { err } = await replicas.postern(`service remove ${name.slice(0, -1)}`)

    expect(err).toContain(`did you mean ${name}?`)
  })
})

describe('postern token issue', () => {
  test('prints a token, alone on stdout, that gateways accept', async () => {
    const replicas = await startReplicas({ tokens })
    const gateway = await replicas.start()
    const name = await addService(replicas)

    const { code, out, err } = await replicas.postern(`token issue ${name} --expires 90d --note gh`)

    expect(code).toBe(0)
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(err).toMatch(
      /^postern: issued token [0-9a-f-]{36} to ci-\S+ \(role editor\), expires .*Z; it is shown once\n$/,
    )
    expect(await verdictOn(gateway, out.trim())).toBe('live')
    const [row] = await listed(replicas, name)
    expect(row).toMatchObject({ service: name, role: 'editor', status: 'good', note: 'gh' })
    expect(row).toMatchObject({ issuedBy: 'ada', lastSeen: null, kid: null })
    const everything = await replicas.postern('audit list --output json --action token.issue')
    expect(everything.out).toContain(row?.id)
    for (const text of [err, everything.out, (await replicas.postern('token list')).out])
      expect(text).not.toContain(out.trim().split('.')[2])
  })

  test('gives the token inside the JSON where that is asked for', async () => {
    const replicas = await startReplicas({ tokens })
    const name = await addService(replicas, 'viewer')

    const { out } = await replicas.postern(`token issue ${name} --expires 12h --output json`)

    const { token, ...rest } = JSON.parse(out)
    const payload = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    expect(payload).toMatchObject({ kind: 'service', jti: rest.id, nice: name, rolekey: 'viewer' })
    expect(Date.parse(rest.expiresAt) - Math.floor(Date.parse(rest.issuedAt) / 1000) * 1000).toBe(
      12 * 3_600_000,
    )
  })

  test('says which setting is off, and issues nothing', async () => {
    const replicas = await startReplicas({})
    const name = await addService(replicas)

    const { code, out, err } = await replicas.postern(`token issue ${name} --expires 1d`)

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(
      'postern: service tokens are off: set tokens.service.enabled to true, here and on every gateway\n',
    )
    expect(await listed(replicas, name)).toEqual([])
  })

  test.each([
    ['366d', 1, 'is longer than tokens.service.maxLifetime allows: use at most 365 d'],
    ['0d', 2, '--expires: give at least one second'],
    ['soon', 2, '--expires: "soon" is not a duration such as 30m, 1h or 7d'],
  ])('refuses a lifetime of %s', async (expires, wanted, message) => {
    const replicas = await startReplicas({ tokens })
    const name = await addService(replicas)

    const { code, out, err } = await replicas.postern(`token issue ${name} --expires ${expires}`)

    expect({ code, out }).toEqual({ code: wanted, out: '' })
    expect(err).toContain(message)
  })

  test('is the only way: nothing but a command signs a service token', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    const users = files.filter(
      (file) =>
        file.endsWith('.ts') &&
        /from '[^']*\/service-token\.ts'/.test(readFileSync(join('src', file), 'utf8')),
    )

    expect(users).toEqual(['operations/services/issue-token.ts'])
  })

  test('serves a service account that cannot log in, and its profile', async () => {
    const replicas = await startReplicas({ tokens })
    const gateway = await replicas.start()
    const name = await addService(replicas)
    const token = (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()

    const login = await postLogin(gateway, { username: name, password: '!', uuid: '-', code: '-' })
    const profile = await gateway.call('GET /api/v1/user/profile', { token })

    expect(login.json()).toMatchObject({ code: 400 })
    expect(profile.json()).toMatchObject({ data: { user: { username: name } } })
  })
})

describe('postern token list', () => {
  test('shows the key of a token, and when it was removed', async () => {
    const keyDirectory = await mkdtemp(join(tmpdir(), 'postern-keys-'))
    onTestFinished(() => rm(keyDirectory, { recursive: true, force: true }))
    const keys = async (line: string) =>
      expect(await runCommand(['keys', ...line.split(' ')])).toMatchObject({ code: 0 })
    await keys(`generate --out ${keyDirectory} --kid old`)
    await keys(`use old ${keyDirectory}`)
    await keys(`generate --out ${keyDirectory} --kid new`)
    const replicas = await startReplicas({ tokens, jwt: { secret: undefined, keyDirectory } })
    const name = await addService(replicas)
    await replicas.postern(`token issue ${name} --expires 1d`)
    expect(await listed(replicas, name)).toMatchObject([{ kid: 'old', status: 'good' }])

    await keys(`use new ${keyDirectory}`)
    expect(await listed(replicas, name)).toMatchObject([{ kid: 'old', status: 'good' }])
    await rm(join(keyDirectory, 'old.pem'))

    expect(await listed(replicas, name)).toMatchObject([{ kid: 'old', status: 'key removed' }])
  })

  test('says which tokens gateways refuse since tokens.service.maxLifetime is shorter', async () => {
    const before = await startReplicas({ tokens })
    const name = await addService(before)
    await before.postern(`token issue ${name} --expires 2d`)
    await before.postern(`token issue ${name} --expires 1d`)
    const short = { service: { enabled: true, maxLifetime: 86_400 } }

    const statuses = (await listed(await startReplicas({ tokens: short }), name)).map(
      ({ status }) => status,
    )

    expect(statuses).toEqual(['good', 'too long-lived'])
  })

  test('neither lists nor issues while it cannot read what is revoked', async () => {
    const redis = await testRedis()
    const replicas = await startReplicas({ tokens, redis })
    const name = await addService(replicas)
    await redis.kill()

    for (const line of [`token list --service ${name}`, `token issue ${name} --expires 1d`]) {
      const { code, out, err } = await replicas.postern(line)
      expect({ code, out }).toEqual({ code: 5, out: '' })
      expect(err).toMatch(/Redis/)
    }
  })

  test('obeys no escape sequence in a note', async () => {
    const replicas = await startReplicas({ tokens })
    const name = await addService(replicas)

    const { code, err } = await replicas.postern(
      `token issue ${name} --expires 1d --note \u001b[2J`,
    )

    expect(code).toBe(2)
    expect(err).toContain('--note: must not contain control characters')
  })
})

describe.each([
  ['the database', false],
  ['Redis', true],
])('a service token, with revocations in %s', (_, withRedis) => {
  async function start() {
    const redis = withRedis ? { redis: await testRedis() } : {}
    const replicas = await startReplicas({ tokens, ...redis })
    return { replicas, gateway: await replicas.start() }
  }

  test('is revoked by its id, and that alone', async () => {
    const { replicas, gateway } = await start()
    const name = await addService(replicas)
    const issue = async () =>
      (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()
    const [one, other] = [await issue(), await issue()]
    const id = (await listed(replicas, name)).at(-1)?.id

    const { code, out } = await replicas.postern(`token revoke --id ${id} --output json`)

    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, token: id })
    await overEverywhere([gateway], one)
    expect(await verdictOn(gateway, other)).toBe('live')
    expect((await listed(replicas, name)).map(({ status }) => status)).toEqual(['good', 'revoked'])
    const audit = await replicas.postern('audit list --action token.revoke --output json')
    expect(audit.out).toContain(id)
  })

  test('is revoked with its role, and a new one is valid at once', async () => {
    const { replicas, gateway } = await start()
    const name = await addService(replicas)
    const old = (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()

    await replicas.postern(`service role ${name} editor`)
    const fresh = (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()

    await overEverywhere([gateway], old)
    expect(await verdictOn(gateway, fresh)).toBe('live')
    expect((await listed(replicas, name)).map(({ status }) => status)).toEqual(['good', 'revoked'])
    await replicas.postern(`token revoke --user ${name}`)
    await overEverywhere([gateway], fresh)
    expect((await listed(replicas, name)).map(({ status }) => status)).toEqual([
      ...['revoked', 'revoked'],
    ])
  })

  test('shows when a gateway last saw it', async () => {
    const { replicas, gateway } = await start()
    const name = await addService(replicas)
    const token = (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()
    await verdictOn(gateway, token)

    // It writes once a minute, and when it shuts down.
    await gateway.close()

    const [row] = await listed(replicas, name)
    expect(row?.lastSeen).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/)
  })

  test('ends with its account, and no token of a person does', async () => {
    const { replicas, gateway } = await start()
    const person = await liveToken([gateway], await replicas.addUser())
    const name = await addService(replicas)
    const token = (await replicas.postern(`token issue ${name} --expires 1d`)).out.trim()
    expect(await verdictOn(gateway, token)).toBe('live')

    await replicas.postern(`service remove ${name}`)

    await overEverywhere([gateway], token)
    expect(await verdictOn(gateway, person)).toBe('live')
  })
})
