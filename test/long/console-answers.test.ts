import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { dayOf } from '../../src/policy/usage/usage.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { createRedisUsage } from '../../src/stores/usage/redis-usage.ts'
import { nameOf, observedName } from '../../src/stores/usage/usage-entry.ts'
import { widestModel } from '../policy/policy-text.ts'
import { type ConsoleGateway, startConsoleGateway } from '../support/console-browser.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { testRedis } from '../support/published-policies.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startConsole } from '../support/start-console.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { problemsWith, type TypedAnswer, typedQuestions } from '../support/typed-answers.ts'
import { until } from '../support/until.ts'

/** Fields that these answers do not have: they need a provider, another model or another configuration. */
const unseen: readonly string[] = [
  '*.until',
  '*.fields',
  '*.startsAt',
  '*.parentKey',
  '*.clause',
  '*.changes.text',
  'LoginMethods.providers.*',
  'WhoAnswer.refused',
  'WhoAnswer.superusers.*',
  'WhoAnswer.deniedRoles.accounts',
  'CanAnswer.ineffective.*',
  'CanAnswer.routes.route.*',
  'OpenAnswer.endpoints.upstream',
  'OpenAnswer.exclusions.reasons.*',
  'OpenAnswer.otherTokens.*',
  'OpenAnswer.routes.except.*',
  'MatrixAnswer.refused.*',
  'ProposalAnswer.diff.notes',
  'HistoryEntry.publisher',
  'UserAnswer.links.*',
  'UserAnswer.lockouts.username',
  'UserAnswer.oneTimeCodes.*',
  'FleetAnswer.replicas.lastError',
  'FleetAnswer.replicas.facts.certificate',
  'FleetAnswer.replicas.facts.upstreams.named.*',
  'DenialsAnswer.denials.domain',
  'CheckAnswer.errors.code',
  'TestsAnswer.failures.code',
]

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

describe('the types of the answers', () => {
  test('are those of the management API, and every field occurs', async () => {
    const answers = await collectAnswers()
    const asked = answers.map(({ type, operation }) => `${type} ${operation.replace(/\?.*/, '')}`)

    expect([...new Set(asked)].toSorted()).toEqual(expect.arrayContaining([...typedQuestions()]))
    expect(typedQuestions().length).toBeGreaterThan(20)
    expect(await problemsWith(answers, unseen)).toBe('')

    // What the check is for.
    const broken = answers.map((each) => ({
      ...each,
      body: each.type === 'WhoAnswer' ? { ...Object(each.body), roles: undefined } : each.body,
    }))
    expect(await problemsWith(broken, unseen)).toContain("Property 'roles' is missing")
  })
})

/** What pages ask with `GET`, by the type that they expect. */
function questionsOf({ first, second, proposed }: Revisions): Readonly<Record<string, string[]>> {
  return {
    Session: ['session'],
    LoginMethods: ['providers'],
    WhoAnswer: [
      'policy/who?method=GET&path=/orders&accounts=true',
      'policy/who?method=PUT&path=/orders',
      'policy/who?method=GET&path=/orders/7',
      'policy/who?method=GET&path=/orders/help',
    ],
    NamesAnswer: ['policy/names'],
    ExplainAnswer: [
      'policy/explain?role=clerk&method=GET&path=/orders',
      'policy/explain?role=clerk&method=DELETE&path=/orders',
      'policy/explain?role=guest&method=GET&path=/orders/help',
      'policy/explain?anonymous=true&method=GET&path=/orders',
    ],
    CanAnswer: ['policy/can?role=lead', 'policy/can?role=guest', 'policy/can?role=admin'],
    CompareAnswer: ['policy/can?role=lead&compare=guest', 'policy/can?role=guest&compare=lead'],
    UnusedAnswer: ['policy/unused'],
    OpenAnswer: ['policy/open'],
    MatrixAnswer: ['policy/matrix?compact=true'],
    DiffAnswer: [`policy/diff?from=${first}&to=${second}`],
    ProposalAnswer: [`policy/proposals?revision=${proposed}`],
    ShadowAnswer: ['policy/shadow'],
    StatusAnswer: ['policy/status'],
    UserAnswer: ['user/show?name=ann', 'user/show?name=editor'],
    RoleAnswer: ['role/show?key=clerk'],
    SessionsAnswer: ['session/list'],
    LoginsAnswer: ['login/list'],
    LocksAnswer: ['login/locks'],
    FleetAnswer: ['fleet'],
    DenialsAnswer: ['policy/denials'],
    FilesAnswer: ['policy/files?revision=live&tests=true'],
    'readonly Proposal[]': ['policy/proposals'],
    'readonly HistoryEntry[]': ['policy/history'],
    'readonly UserSummary[]': ['user/list'],
    'readonly RoleSummary[]': ['role/list'],
    'readonly AuditEntry[]': ['audit/list'],
  }
}

/** Asks a running console everything that the pages ask. */
async function collectAnswers(): Promise<readonly TypedAnswer[]> {
  const redis = await testRedis()
  const gateway = await startConsoleGateway(files, { ...settings, redis: { url: redis.url } })
  onTestFinished(gateway.stop)
  const revisions = await fill(gateway, redis)
  const password = gateway.passwords['admin']
  const login = await send(gateway, 'login', { body: { username: 'admin', password } })
  const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const confirmed = await send(gateway, 'session/confirm', { cookie, body: { password } })
  const strict = await startConsole({ config: { application: { mode: 'prod' } } })
  const captcha = await strict.call('GET captcha')
  const answers: TypedAnswer[] = [
    { type: 'Captcha', operation: 'captcha', body: captcha.json() },
    { type: 'Session', operation: 'login', body: await login.json() },
    { type: 'Session', operation: 'session/confirm', body: await confirmed.json() },
  ]
  for (const [type, operations] of Object.entries(questionsOf(revisions))) {
    for (const operation of operations) {
      const answer = await send(gateway, operation, { cookie })
      const text = await answer.text()
      expect([operation, answer.status, text]).toEqual([operation, 200, expect.anything()])
      answers.push({ type, operation, body: JSON.parse(text) })
    }
  }
  for (const { type, operation, body, status = 200 } of draftQuestions()) {
    const answer = await send(gateway, operation, { cookie, body })
    const text = await answer.text()
    expect([operation, answer.status, text]).toEqual([operation, status, expect.anything()])
    answers.push({ type, operation, body: JSON.parse(text) })
  }
  const body = { name: 'ben', role: 'clerk' }
  const added = await send(gateway, 'user/add', { cookie, body })
  return [...answers, { type: 'AddedUser', operation: 'user/add', body: await added.json() }]
}

interface DraftQuestion {
  readonly type: string
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
    { type: 'CheckAnswer', operation: 'policy/check', body: { files: same } },
    { type: 'CheckAnswer', operation: 'policy/check', body: { files: invalid }, status: 422 },
    { type: 'TestsAnswer', operation: 'policy/test', body: { files: same } },
    { type: 'TestsAnswer', operation: 'policy/test', body: { files: narrower } },
    ...[narrower, wider, excluded].map((each) => ({
      type: 'ReplayAnswer',
      operation: 'policy/replay',
      body: { files: each, since },
    })),
    { type: 'DenialsAnswer', operation: 'policy/denials', body: { files: wider, since } },
    { type: 'DiffAnswer', operation: 'policy/diff', body: { from: 'live', files: wider } },
    {
      type: 'ProposeAnswer',
      operation: 'policy/propose',
      body: { files: untested, message: 'untested', over: 'live', 'no-tests': true },
    },
    {
      type: 'ProposeAnswer',
      operation: 'policy/propose',
      body: { files: narrower, message: 'fails', over: 'live' },
    },
  ]
}

function send(
  { address }: ConsoleGateway,
  operation: string,
  { cookie = '', body }: { readonly cookie?: string; readonly body?: object },
): Promise<Response> {
  return fetch(`${address}api/v1/${operation}`, {
    headers: { cookie, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
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
