import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { dayOf } from '../../src/policy/usage/usage.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createRedisUsage } from '../../src/stores/usage/redis-usage.ts'
import { nameOf, observedName } from '../../src/stores/usage/usage-entry.ts'
import { widestModel } from '../policy/policy-text.ts'
import { checkResponse } from '../support/check-response.ts'
import { type ConsoleGateway, startConsoleGateway } from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { testRedis } from '../support/published-policies.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startConsole } from '../support/start-console.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const decisionLog = 'decisions.jsonl'

const settings = {
  policy: { source: 'redis' },
  jwt: { secret: testSecret },
  logger: { enableddb: true, decisions: { enabled: true, file: decisionLog } },
  console: { enabled: true, port: 0, write: true },
  upstreams: { app: { targets: ['http://127.0.0.1:9'] } },
  routes: [
    { name: 'orders', path: '/orders', upstream: 'app' },
    { path: '/status', upstream: 'app', access: 'public', reason: 'Probes have no token.' },
    { path: '/unused', upstream: 'app' },
  ],
}

const files = {
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': [
    'p, clerk, /orders, GET, allow',
    'p, lead, /orders, PUT, allow',
    '# postern: until 2099-01-01',
    'p, lead, /orders/:id, GET, allow',
    'p, clerk, /orders/:id, GET, allow',
    'p, guest, /orders, PUT, deny',
    'p, guest, /orders, PUT, allow',
    'p, guest, /elsewhere, GET, allow',
    'g, lead, clerk',
    '',
  ].join('\n'),
  'policies/exclusions.yaml': '- { method: GET, path: /orders/help, reason: Help is for all. }\n',
  'policies/tests/orders_test.yaml': consoleFiles['policies/tests/orders_test.yaml'],
}

describe('the answers to pages', () => {
  test('have the schemas of the management API, from which pages have their types', async () => {
    const redis = await testRedis()
    const gateway = await startConsoleGateway(files, { ...settings, redis: { url: redis.url } })
    onTestFinished(gateway.stop)
    const revisions = await fill(gateway, redis)
    const strict = await startConsole({ config: { application: { mode: 'prod' } } })
    await strict.call('GET captcha')

    const password = gateway.passwords['admin']
    const { cookie } = await ask(gateway, 'login', { body: { username: 'admin', password } })
    await ask(gateway, 'session/confirm', { cookie, body: { password } })
    for (const operation of questionsOf(revisions)) await ask(gateway, operation, { cookie })
    for (const { operation, body, status } of draftQuestions())
      await ask(gateway, operation, { cookie, body, status })
    await ask(gateway, 'user/add', { cookie, body: { name: 'ben', role: 'clerk' } })

    // What the check is for.
    const line = 'GET policy/who'
    const broken = { line, status: 200, contentType: 'application/json', body: '{"roles":1}' }
    expect(() => checkResponse(broken)).toThrow('/roles must be array')
  })
})

/** What pages ask with `GET`. */
function questionsOf({ first, second, proposed }: Revisions): readonly string[] {
  return [
    ...['session', 'providers', 'fleet', 'audit/list'],
    'policy/who?method=GET&path=/orders&accounts=true',
    'policy/who?method=PUT&path=/orders',
    'policy/who?method=GET&path=/orders/7',
    'policy/who?method=GET&path=/orders/help',
    'policy/names',
    'policy/explain?role=clerk&method=GET&path=/orders',
    'policy/explain?role=clerk&method=DELETE&path=/orders',
    'policy/explain?role=guest&method=GET&path=/orders/help',
    'policy/explain?anonymous=true&method=GET&path=/orders',
    ...['policy/can?role=lead', 'policy/can?role=guest', 'policy/can?role=admin'],
    ...['policy/can?role=lead&compare=guest', 'policy/can?role=guest&compare=lead'],
    ...['policy/unused', 'policy/open', 'policy/matrix?compact=true'],
    `policy/diff?from=${first}&to=${second}`,
    ...['policy/proposals', `policy/proposals?revision=${proposed}`],
    ...['policy/shadow', 'policy/status', 'policy/history', 'policy/denials'],
    'policy/files?revision=live&tests=true',
    ...['user/list', 'user/show?name=ann', 'user/show?name=editor'],
    ...['role/list', 'role/show?key=clerk'],
    ...['session/list', 'login/list', 'login/locks'],
  ]
}

interface DraftQuestion {
  readonly operation: string
  readonly body: object
  readonly status?: number
}

/** What the editor asks about drafts: the same policy, and some that are invalid, narrower or wider. */
function draftQuestions(): readonly DraftQuestion[] {
  const policy = files['policies/policy.csv']
  const draft = (changed: Readonly<Record<string, string>>) =>
    Object.entries({ ...files, ...changed }).map(([name, text]) => ({
      name: name.replace('policies/', ''),
      text,
    }))
  const same = draft({})
  const invalid = draft({ 'policies/policy.csv': `${policy}p, clerk, no-slash, GET, allow\n` })
  const narrower = draft({
    'policies/policy.csv': policy.replaceAll('p, clerk, /orders, GET, allow\n', ''),
  })
  const wider = draft({ 'policies/policy.csv': `${policy}p, clerk, /orders, POST, allow\n` })
  const excluded = draft({
    'policies/exclusions.yaml': '- { method: POST, path: /orders, reason: A form for all. }\n',
  })
  const untested = draft({}).filter(({ name }) => !name.startsWith('tests/'))
  const since = '6h'
  return [
    { operation: 'policy/check', body: { files: same } },
    { operation: 'policy/check', body: { files: invalid }, status: 422 },
    { operation: 'policy/test', body: { files: same } },
    { operation: 'policy/test', body: { files: narrower } },
    ...[narrower, wider, excluded].map((each) => ({
      operation: 'policy/replay',
      body: { files: each, since },
    })),
    { operation: 'policy/denials', body: { files: wider, since } },
    { operation: 'policy/diff', body: { from: 'live', files: wider } },
    {
      operation: 'policy/propose',
      body: { files: untested, message: 'untested', over: 'live', 'no-tests': true },
    },
    {
      operation: 'policy/propose',
      body: { files: narrower, message: 'fails', over: 'live' },
    },
  ]
}

interface Sent {
  readonly cookie?: string
  readonly body?: object
}

function send(
  { address }: ConsoleGateway,
  operation: string,
  { cookie = '', body }: Sent,
): Promise<Response> {
  return fetch(`${address}api/v1/${operation}`, {
    headers: { cookie, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
}

/** Throws unless the answer has this status, and the schema for it. */
async function ask(
  gateway: ConsoleGateway,
  operation: string,
  { status = 200, ...sent }: Sent & { readonly status?: number | undefined },
): Promise<{ readonly cookie: string }> {
  const answer = await send(gateway, operation, sent)
  const body = await answer.text()
  expect([operation, answer.status, body]).toEqual([operation, status, expect.anything()])
  const line = `${sent.body === undefined ? 'GET' : 'POST'} ${operation}`
  const contentType = answer.headers.get('content-type') ?? undefined
  checkResponse({ line, status, contentType, body })
  return { cookie: answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}

interface Revisions {
  readonly first: string
  readonly second: string
  readonly proposed: string
}

/** Two live revisions, a proposal, a shadow that disagrees, accounts, a lock-out and counted usage. */
async function fill(gateway: ConsoleGateway, redis: RedisServer): Promise<Revisions> {
  const { directory: cwd, configFile, publicPort } = gateway
  async function postern(typed: string, shown = ''): Promise<string> {
    const argv = [
      ...typed.split(' '),
      '--config',
      configFile,
      ...(shown === '' ? [] : ['--output', shown]),
    ]
    const { code, out, err } = await runCommand(argv, { cwd })
    expect([typed, code, code === 0 ? '' : err]).toEqual([typed, 0, ''])
    return out
  }
  const policy = join(cwd, 'policies/policy.csv')
  const add = async (line: string) =>
    writeFile(policy, `${await readFile(policy, 'utf8')}${line}\n`)

  await postern('role add clerk --name Clerk --data-scope 1')
  await postern('user add ann --role clerk')
  await postern('policy push -m first --yes --no-wait')
  await add('p, lead, /orders/:id, DELETE, allow')
  await postern('policy push -m second --yes --no-wait')
  await add('p, clerk, /orders, POST, allow')
  const { revision: proposed } = JSON.parse(await postern('policy propose -m third', 'json'))
  await postern('policy push -m trial --shadow --yes --no-wait')
  const [second, first] = JSON.parse(await postern('policy history', 'json'))

  const headers = { Authorization: `Bearer ${tokenOf('clerk')}` }
  await until(async () => {
    await fetch(`http://127.0.0.1:${publicPort}/orders`, { method: 'POST', headers })
    return JSON.parse(await postern('policy shadow', 'json')).wouldAllow > 0
  })
  const wrong = { username: 'editor', password: 'wrong' }
  await until(async () => {
    await send(gateway, 'login', { body: wrong })
    return JSON.parse(await postern('login locks', 'json')).lockouts.length > 0
  })
  await until(async () => {
    await fetch(`http://127.0.0.1:${publicPort}/orders`, { headers })
    const decisions = await readFile(join(cwd, decisionLog), 'utf8').catch(() => '')
    return decisions.includes('"method":"GET"') && decisions.includes('"method":"POST"')
  })
  await countUsage(redis)
  return { first: first.revision, second: second.revision, proposed }
}

/** As gateways do once a minute. */
async function countUsage({ url }: RedisServer): Promise<void> {
  const client = createRedis({
    url,
    prefix: '{postern}:',
    connectTimeoutMs: 5000,
    commandTimeoutMs: 5000,
  })
  await client.connect()
  const now = Date.now()
  const observed = {
    kind: 'observed',
    name: observedName(now, `r-${'0'.repeat(32)}`),
    count: 1,
  } as const
  const refused = [
    { roleKey: 'clerk', method: 'POST', path: '/orders' },
    { roleKey: 'clerk', method: 'GET', path: '/orders' },
    { roleKey: 'clerk', method: 'DELETE', path: '/nowhere' },
    { roleKey: 'clerk', method: 'DELETE', route: 'orders' },
  ].map((call) => ({ kind: 'refusal', name: nameOf(call), count: 2 }) as const)
  const entries = [observed, ...refused]
  await createRedisUsage(client).add({ id: 'batch', day: dayOf(now), at: now, entries })
  await client.close()
}
