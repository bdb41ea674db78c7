import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { dayOf, type RefusedCall } from '../../src/policy/usage/usage.ts'
import { ruleUsageKey } from '../../src/policy/usage/usage-key.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createDatabaseUsage } from '../../src/stores/usage/database-usage.ts'
import { createRedisUsage } from '../../src/stores/usage/redis-usage.ts'
import {
  nameOf,
  observedName,
  otherName,
  type UsageStore,
} from '../../src/stores/usage/usage-entry.ts'
import { tenants } from '../policy/domain-models.ts'
import { widestModel } from '../policy/policy-text.ts'
import { emptiedRedis } from '../support/emptied-redis.ts'
import { folder, policy } from './policy-runner.ts'

const redis = emptiedRedis()
const dayMs = 86_400_000
const model = readFileSync('policies/model.conf', 'utf8')
const csv = '# orders\np, clerk, /orders, GET\np, clerk, /orders/:id, PUT\np, ghost, /orders, GET\n'
const tests =
  '- { role: clerk, method: GET, path: /orders, expect: allow }\n- { role: ghost, method: GET, path: /orders, expect: allow }\n'

const settings = (more: string) => `
application: { mode: dev, dataDirectory: data }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes: [{ path: /orders, upstream: app }]
${more}
`
const files = {
  'policies/model.conf': model,
  'policies/policy.csv': csv,
  'policies/tests/orders_test.yaml': tests,
}

const tenantRules =
  'p, lead, north, /orders/:id, GET\np, lead, south, /orders/:id, PUT\ng, ann, lead, north\n'

/** The same with a policy that has a domain. */
async function tenantsOnRedis() {
  const config = settings(
    `redis: { url: '${redis.url}' }\npolicy: { domain: { from: claim, claim: tenant } }\n`,
  )
  return folder({
    'config/postern.yaml': config,
    'policies/model.conf': tenants,
    'policies/policy.csv': tenantRules,
  })
}

/** A directory whose gateways count in Redis. */
async function onRedis(more = '') {
  const config = settings(`redis: { url: '${redis.url}' }\n${more}`)
  return folder({ 'config/postern.yaml': config, ...files })
}

function revisionOf(text: string): string {
  return parsePolicySet([
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text },
  ]).revision
}

function keyOf(line: string): string {
  const { rules } = parsePolicySet([
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text: line },
  ])
  return rules.map(ruleUsageKey)[0] ?? ''
}

interface Counts {
  readonly daysAgo?: number
  readonly rules?: readonly string[]
  readonly roles?: readonly string[]
  readonly refused?: readonly RefusedCall[]
  readonly others?: number
  readonly revision?: string
}

/** What a gateway would have written on a day. */
async function write(store: Pick<UsageStore, 'add'>, counts: Counts): Promise<void> {
  const { daysAgo = 0, rules = [], roles = [], refused = [], revision = revisionOf(csv) } = counts
  const at = Date.now() - daysAgo * dayMs
  await store.add({
    id: `${daysAgo}-${Math.random()}`,
    day: dayOf(at),
    at,
    entries: [
      { kind: 'observed', name: observedName(at, revision), count: 100 },
      ...rules.map((line) => ({ kind: 'decision' as const, name: keyOf(line), count: 7 })),
      ...roles.map((role) => ({ kind: 'role' as const, name: nameOf(role), count: 3 })),
      ...refused.map((call) => ({ kind: 'refusal' as const, name: nameOf(call), count: 5 })),
      ...(counts.others === undefined
        ? []
        : [{ kind: 'decision' as const, name: otherName, count: counts.others }]),
    ],
  })
}

async function redisStore(): Promise<UsageStore> {
  const timeouts = { connectTimeoutMs: 2000, commandTimeoutMs: 2000 }
  const client = createRedis({ url: redis.url, prefix: '{postern}:', ...timeouts })
  await client.connect()
  onTestFinished(client.close)
  return createRedisUsage(client)
}

async function twoDays(more: Omit<Counts, 'daysAgo'> = {}): Promise<void> {
  const store = await redisStore()
  const used = { rules: ['p, clerk, /orders, GET'], roles: ['clerk', 'guest'], ...more }
  for (const daysAgo of [2, 1, 0]) await write(store, { ...used, daysAgo })
}

describe('policy unused', () => {
  test('lists grants, roles and strangers, and over how many days', async () => {
    const cwd = await onRedis()
    await twoDays()

    const ran = await policy(['unused', '--days', '2'], { cwd })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(
      /^policies, r-\w+\nobserved 2 of 2 days: 3 hours since .* UTC, 300 decisions\n/,
    )
    expect(ran.out).toContain(`2 grants never used:
  policies/policy.csv:3: p, clerk, /orders/:id, PUT
  policies/policy.csv:4: p, ghost, /orders, GET
1 role that no token carried:
  ghost  1 rule
1 role in tokens that the policy does not name:
  guest  9 requests  last `)
    expect(ran.out).not.toContain('not all of that time was observed')
    expect((await policy(['unused'], { cwd })).out).toContain('not all of that time was observed')
  })

  test('calls what came later too new to tell, by the revision of the first hour', async () => {
    const cwd = await onRedis('policy: { source: redis }')
    const push = ['push', '--yes', '--no-tests', '--no-wait', '-m']
    const young = `${csv}p, clerk, /orders/:id, DELETE\n`
    await policy([...push, 'first'], { cwd })
    await twoDays()
    await writeFile(join(cwd, 'policies/policy.csv'), young)
    await policy([...push, 'second'], { cwd })

    const ran = await policy(['unused', '--days', '2'], { cwd })
    expect(ran.out).toContain('2 grants never used:\n')
    expect(ran.out).toContain(
      `1 unused, too new to tell: not in every policy since ${revisionOf(csv)}, with which the observation began\n  policy.csv:5: p, clerk, /orders/:id, DELETE\n`,
    )
  })

  test('calls what a rollback brought back too new to tell', async () => {
    const cwd = await onRedis('policy: { source: redis }')
    const push = ['push', '--yes', '--no-tests', '--no-wait', '-m']
    await policy([...push, 'first'], { cwd })
    await twoDays()
    const without = csv.replace('p, clerk, /orders/:id, PUT\n', '')
    await writeFile(join(cwd, 'policies/policy.csv'), without)
    await policy([...push, 'second'], { cwd })
    await write(await redisStore(), { daysAgo: 1, revision: revisionOf(without) })
    await policy(['rollback', '--yes', '--no-wait', '-m', 'back', revisionOf(csv)], { cwd })

    const ran = await policy(['unused', '--days', '2'], { cwd })
    expect(ran.out).toContain('1 grant never used:\n  policy.csv:4: p, ghost')
    expect(ran.out).toMatch(/1 unused, too new to tell: .*\n {2}policy.csv:3: p, clerk/)
  })

  test('says when it cannot know what is new, until a baseline is named', async () => {
    const cwd = await onRedis()
    await twoDays({ revision: 'r-00000000000a' })
    await cp(join(cwd, 'policies'), join(cwd, 'before'), { recursive: true })

    const unknown = await policy(['unused', '--days', '2'], { cwd })
    expect(unknown.out).toContain('3 unused, too new to tell: the content of r-00000000000a, with')
    expect(unknown.out).toContain('--baseline')
    const known = await policy(['unused', '--days', '2', '--baseline', 'before'], { cwd })
    expect(known.out).toContain('2 grants never used:\n')
    expect(known.out).not.toContain('too new')
  })

  test('writes a candidate that is valid, keeps comments, and names the tests that fail', async () => {
    const cwd = await onRedis()
    await twoDays()

    const ran = await policy(['unused', '--days', '2', '--write', 'smaller'], { cwd })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain('without 2 rules, 0 inheritances, 0 exclusions\n')
    expect(ran.out).toContain('1 test of 2 would fail: keep the grant, or remove the test\n')
    expect(ran.out).toContain('  smaller/tests/orders_test.yaml:2:3: ghost GET /orders: expected')
    expect(await readFile(join(cwd, 'smaller/policy.csv'), 'utf8')).toBe(
      '# orders\np, clerk, /orders, GET\n',
    )
    expect((await policy(['check', 'smaller'], { cwd })).code).toBe(0)
    const again = await policy(['unused', '--days', '2', '--write', 'smaller'], { cwd })
    expect(again).toMatchObject({ code: 3 })
    expect(again.err).toContain('smaller: is not empty: choose a new directory')
  })

  test('writes a candidate of the live policy that can be pushed over it', async () => {
    const cwd = await onRedis('policy: { source: redis }')
    const push = ['push', '--yes', '--no-tests', '--no-wait', '-m']
    await policy([...push, 'first'], { cwd })
    await twoDays()

    const ran = await policy(['unused', '--days', '2', '--write', 'smaller', '--output', 'json'], {
      cwd,
    })
    expect(JSON.parse(ran.out)).toMatchObject({
      policy: 'live',
      observed: { days: 2, observedDays: 2, isComplete: true },
      grants: [
        { line: 3, roleKey: 'clerk', path: '/orders/:id', method: 'PUT', isNew: false },
        { line: 4, roleKey: 'ghost', path: '/orders', method: 'GET', isNew: false },
      ],
      roles: [{ roleKey: 'ghost', isNew: false }],
      unmentioned: [{ roleKey: 'guest', count: 9 }],
      candidate: { directory: 'smaller', dropped: { rules: 2 }, tests: 2, failures: [/ghost/] },
    })
    await rm(join(cwd, 'smaller/tests'), { recursive: true })
    const pushed = await policy([...push, 'second', 'smaller'], { cwd })
    expect(pushed).toMatchObject({ code: 0 })
  })

  test.each([
    ['too few days', { days: '3', counts: {} }, 'observed 2 of 3 days: 3 hours since '],
    ['uncounted decisions', { days: '2', counts: { others: 4 } }, '12 decisions could not be'],
    ['no used rule', { days: '2', counts: { rules: [] } }, 'no rule was used'],
  ])('writes nothing after %s', async (_, { days, counts }, reason) => {
    const cwd = await onRedis()
    await twoDays(counts)

    const ran = await policy(['unused', '--days', days, '--write', 'smaller'], { cwd })
    expect(ran.code).toBe(1)
    expect(ran.err).toMatch(new RegExp(`^postern: nothing written: ${reason}.*\n$`))
    expect(await readdir(cwd)).not.toContain('smaller')
    const forced = await policy(['unused', '--days', days, '--write', 'x', '--force'], { cwd })
    expect(forced.code).toBe(reason.startsWith('no rule') ? 1 : 0)
  })

  test('keeps what a role inherits while roles could not all be counted by name', async () => {
    const cwd = await onRedis()
    const withRoles = formatModel(widestModel)
    const text = `${csv}g, unknown, clerk\n`
    await writeFile(join(cwd, 'policies/model.conf'), withRoles)
    await writeFile(join(cwd, 'policies/policy.csv'), text)
    const { revision } = parsePolicySet([
      { name: 'model.conf', text: withRoles },
      { name: 'policy.csv', text },
    ])
    await twoDays({ revision })
    const entries = [{ kind: 'role' as const, name: otherName, count: 3 }]
    await (await redisStore()).add({ id: 'x', day: dayOf(Date.now()), at: Date.now(), entries })

    const ran = await policy(['unused', '--days', '2', '--write', 'smaller'], { cwd })
    expect(ran.out).toContain('3 requests came from more roles than are counted')
    expect(await readFile(join(cwd, 'smaller/policy.csv'), 'utf8')).toContain('g, unknown, clerk')
  })

  test('writes no file whose name in Redis leads elsewhere', async () => {
    const cwd = await onRedis('policy: { source: redis }')
    await policy(['push', '--yes', '--no-tests', '--no-wait', '-m', 'x'], { cwd })
    await twoDays()
    const key = `{postern}:policy:rev:${revisionOf(csv)}`
    const { checksum: _, ...content } = JSON.parse((await redis.client.get(key)) ?? '')
    const text = JSON.stringify(content).replace('"policy.csv"', '"../../policy.csv"')
    const checksum = hash('sha256', text)
    await redis.client.set(key, JSON.stringify({ ...JSON.parse(text), checksum }))

    const ran = await policy(['unused', '--days', '2', '--write', 'smaller'], { cwd })
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.err).toContain('a file that is not a policy file: "../../policy.csv"')
    expect(await readdir(cwd)).not.toContain('smaller')
  })

  test('says what to do when nothing was counted, Redis is unreachable or the usage is wrong', async () => {
    const cwd = await onRedis()
    const nothing = await policy(['unused'], { cwd })
    expect(nothing.code).toBe(5)
    expect(nothing.err).toMatch(
      /^postern: no gateway has written policy usage to Redis since \S+: /,
    )

    const off = await onRedis('policy: { usage: false }')
    expect((await policy(['unused'], { cwd: off })).err).toBe(
      'postern: policy.usage is false in this configuration\n',
    )
    const env = { POSTERN_REDIS__URL: 'redis://127.0.0.1:1' }
    expect((await policy(['denials'], { cwd, env })).code).toBe(5)
    expect((await policy(['unused', '--days', '91'], { cwd })).code).toBe(2)
    expect((await policy(['unused', '--force'], { cwd })).err).toContain('--force needs --write')
    for (const since of ['x', '0d', '91d', '2099-01-01', '1y']) {
      expect((await policy(['denials', '--since', since], { cwd })).code).toBe(2)
    }
  })

  test('reads the database where Redis is not configured, also while a gateway has it open', async () => {
    const cwd = await folder({ 'config/postern.yaml': settings(''), ...files })
    const directory = join(cwd, 'config', 'data')
    await cp(inject('databaseTemplate'), directory, { recursive: true })
    const timeouts = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 }
    const database = await openDatabase({ directory, poolSize: 1, ...timeouts })
    onTestFinished(database.close)
    await write(createDatabaseUsage(database), { rules: ['p, clerk, /orders, GET'] })

    const ran = await policy(['unused', '--days', '1'], { cwd })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain('2 grants never used:\n')
  })
})

describe('policy denials', () => {
  const refused = [
    { roleKey: 'clerk', method: 'DELETE', path: '/orders/:id' },
    { roleKey: 'evil\u001b[2J', method: 'GET', path: '/orders' },
    { roleKey: 'clerk', method: 'GET', route: '/orders' },
  ]

  test('lists refusals with near misses and the line that would allow each, and prints no control codes', async () => {
    const cwd = await onRedis()
    await twoDays({ refused })

    const ran = await policy(['denials'], { cwd })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(/\n30 refusals since \d{4}-\d\d-\d\d 00:00 UTC:\n/)
    expect(ran.out).toMatch(/\n10 {2}clerk DELETE \/orders\/:id, last .* UTC\n/)
    expect(ran.out).toContain(
      '  near miss    policies/policy.csv:3: p, clerk, /orders/:id, PUT  differs in method\n  would allow  p, clerk, /orders/:id, DELETE\n',
    )
    expect(ran.out).toContain('clerk GET other paths under /orders')
    expect(ran.out).toContain('evil\\u{1b}[2J')
    expect(ran.out).not.toContain('\u001b')
    expect((await policy(['denials', '--limit', '1'], { cwd })).out).toContain(
      '… and 20 refusals of 2 other calls: add --limit 5\n',
    )
  })

  test('have the end of a line as it is in the file, and so have unused grants', async () => {
    const cwd = await onRedis()
    const dated = csv.replaceAll(/p, clerk.*PUT/g, (line) => `# postern: until 2099-01-01\n${line}`)
    await writeFile(join(cwd, 'policies/policy.csv'), dated)
    await twoDays({ refused: refused.slice(0, 1) })
    const ask = async (command: string) =>
      JSON.parse((await policy([command, '--output', 'json'], { cwd })).out)

    const [denial] = (await ask('denials')).denials
    expect(denial.nearMisses).toMatchObject([{ rule: { method: 'PUT', until: '2099-01-01' } }])
    const { grants } = await ask('unused')
    expect(grants).toMatchObject([{ method: 'PUT', until: '2099-01-01' }, { roleKey: 'ghost' }])
  })

  test('of a policy with domains are explained in theirs, and the line names it', async () => {
    const cwd = await tenantsOnRedis()
    await write(await redisStore(), {
      refused: [
        { roleKey: 'lead', domain: 'south', method: 'GET', path: '/orders/:id' },
        { roleKey: 'lead', domain: 'north', method: 'PUT', path: '/orders/:id' },
        { roleKey: 'lead', domain: '*', method: 'DELETE', path: '/orders/:id' },
      ],
    })

    const { out } = await policy(['denials'], { cwd })

    expect(out).toMatch(/\n5 {2}lead GET \/orders\/:id in domain south, last/)
    expect(out).toContain(
      'policy.csv:1: p, lead, north, /orders/:id, GET  counts in another domain\n',
    )
    expect(out).toContain('  would allow  p, lead, south, /orders/:id, GET\n')
    expect(out).toContain('  would allow  p, lead, north, /orders/:id, PUT\n')
    // A client chose the domain: a line with it would count in all of them.
    expect(out).not.toContain('would allow  p, lead, *')
  })

  test('unused lists the rules of the domains in which none decided', async () => {
    const cwd = await tenantsOnRedis()
    const { rules } = parsePolicySet([
      { name: 'model.conf', text: tenants },
      { name: 'policy.csv', text: tenantRules },
    ])
    const store = await redisStore()
    const name = ruleUsageKey(rules[0] as (typeof rules)[number])
    const at = Date.now()
    await store.add({
      id: 'used',
      day: dayOf(at),
      at,
      entries: [{ kind: 'decision', name, count: 1 }],
    })
    await write(store, { roles: ['lead', 'ann'] })

    const { out } = await policy(['unused'], { cwd })

    expect(out).toContain('p, lead, south, /orders/:id, PUT')
    expect(out).not.toContain('p, lead, north, /orders/:id, GET')
  })

  test('counts from the day of --since, and answers about another policy', async () => {
    const cwd = await onRedis()
    const store = await redisStore()
    await write(store, { daysAgo: 10, refused })
    await write(store, { refused: refused.slice(0, 1) })
    await cp(join(cwd, 'policies'), join(cwd, 'next'), { recursive: true })
    await writeFile(join(cwd, 'next/policy.csv'), `${csv}p, clerk, /orders/:id, DELETE\n`)

    const today = JSON.parse((await policy(['denials', '--output', 'json'], { cwd })).out)
    expect(today).toMatchObject({
      refusals: 5,
      denials: [{ count: 5, allowedNow: false, line: 'p, clerk, /orders/:id, DELETE' }],
    })
    const args = ['denials', '--since', '30d', '--policies', 'next']
    const all = await policy(args, { cwd })
    expect(all.out).toContain('20 refusals since')
    expect(all.out).toContain('now  allowed by next/policy.csv:5: p, clerk, /orders/:id, DELETE\n')
  })
})
