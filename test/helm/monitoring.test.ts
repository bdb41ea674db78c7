import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { faults, refusals } from '../../src/kernel/refusals.ts'
import { addConfigMetrics } from '../../src/metrics/config-metrics.ts'
import { createMetricRegistry } from '../../src/metrics/registry.ts'
import { addWorkerMetrics } from '../../src/metrics/worker-metrics.ts'
import { addFollowMetrics } from '../../src/stores/policies/follow/follower.ts'
import { createCertificates } from '../support/certificates.ts'
import { only, render } from '../support/chart.ts'
import { settingsOf, startIssuer } from '../support/issuer-server.ts'
import { mountKeys, newKey } from '../support/keys.ts'
import { logIn, postLogin } from '../support/log-in.ts'
import { testSigner } from '../support/policy-signers.ts'
import { selectorsIn } from '../support/promql.ts'
import { startPublished } from '../support/published-policies.ts'
import { startRedis } from '../support/redis-server.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}
interface Panel {
  readonly title: string
  readonly type: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const rulesFile = parse(readFileSync('helm/postern/alerts/postern.rules.yaml', 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}
const rules = rulesFile.groups.flatMap((group) => group.rules)
const board = JSON.parse(readFileSync('helm/postern/dashboards/postern.json', 'utf8')) as {
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
}

const expressions: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...board.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => [`panel ${title} ${legendFormat}`, expr] as const),
  ),
  ...board.annotations.list.map(({ expr }) => ['annotation', expr] as const),
]

/** Prometheus adds these to whatever it reads. */
const ofTarget = ['namespace', 'job', 'instance']

/** Whether it could scrape a target, which it says itself. */
const ofPrometheus = 'up'

/** What a gateway exposes that has had something of everything: names, and the labels of each. */
async function scrapeOfABusyGateway(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { directory } = await mountKeys({ 'one.pem': newKey().privatePem })
  const dead = 'http://127.0.0.1:1'
  const postern = await startPostern({
    issuers: [settingsOf(await startIssuer())],
    config: {
      application: { mode: 'dev' },
      logger: { enableddb: true, decisions: { enabled: true, file: '/dev/null' } },
      jwt: { keyDirectory: directory },
      login: { failuresPerAccount: 1, failuresPerPair: 1 },
      redis: { url: redis.url },
      upstreams: { flaky: { targets: [dead, `${dead}2`] } },
    },
    routes: [
      { path: '/', upstream: 'flaky' },
      { path: '/scarce', upstream: 'flaky', limit: { requests: 1, seconds: 3600 } },
    ],
  })
  const headers = { Authorization: `Bearer ${await logIn(postern)}` }
  const wrong = { username: 'nobody', password: 'wrong', uuid: '-', code: '-' }
  for (let time = 0; time < 2; time++) await postLogin(postern, wrong)
  for (const path of ['/api/v1/getCaptcha', '/api/v1/public/x', '/scarce', '/scarce']) {
    await (await fetch(`http://127.0.0.1:${postern.publicPort}${path}`, { headers })).text()
  }

  const scrape = async () => (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  await until(async () => /^postern_ratelimit_rejected_total\{.*\} 1$/m.test(await scrape()))
  await until(async () => /^postern_issuer_key_age_seconds\{/m.test(await scrape()))
  const others = [
    await scrapeOverTls(),
    await scrapeOfWorkers(),
    await scrapeOfFollowing(),
    await scrapeOfReloading(),
    await scrapeOfPublished(),
    await scrapeOfTrusting(redis.url),
  ]
  return samplesIn((await scrape()) + others.join(''))
}

/** What only a gateway of several workers has. */
function scrapeOfWorkers(): Promise<string> {
  const registry = createMetricRegistry()
  addWorkerMetrics(registry, () => ({ states: [], restarts: 0, outdated: 0 }))
  return registry.text()
}

/** What only a gateway has that reads its configuration from a file. */
function scrapeOfReloading(): Promise<string> {
  const registry = createMetricRegistry()
  addConfigMetrics(registry, () => ({
    revision: 'c-000000000000',
    lastReload: new Date().toISOString(),
    lastError: undefined,
    needRestart: [],
    reloads: { ok: 1, failed: 0 },
  }))
  return registry.text()
}

/** What only a gateway has that follows go-admin's table. */
function scrapeOfFollowing(): Promise<string> {
  const registry = createMetricRegistry()
  const checkedAt = new Date().toISOString()
  const reloads = { ok: 1, failed: 0 }
  addFollowMetrics(registry, () => ({
    ...{ revision: undefined, rows: undefined, publishedAt: undefined },
    stopped: undefined,
    checkedAt,
    reloads,
  }))
  return registry.text()
}

/** What only a gateway has that speaks TLS itself. */
async function scrapeOverTls(): Promise<string> {
  const { certificate, key, remove } = await createCertificates()
  onTestFinished(remove)
  const tls = { certFile: certificate, keyFile: key }
  const { opsPort } = await startPostern({ config: { tls } })
  return (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
}

/** What only a gateway has that keeps a snapshot of what was published. */
async function scrapeOfPublished(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-snapshot-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const policy = { snapshot: join(directory, 'policy.snapshot') }
  const { postern } = await startPublished({ rules: ['clerk, /x, GET'], policy })
  return (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
}

/** What only a gateway has that requires signatures. */
async function scrapeOfTrusting(url: string): Promise<string> {
  const policy = { source: 'redis', trust: { keys: [testSigner('ann').line] } }
  const { opsPort } = await startPostern({ config: { redis: { url }, policy } })
  return (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
}

function samplesIn(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const samples = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? [^ ]+$/gm)) {
    const known = samples.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label)
    samples.set(name, known)
  }
  return samples
}

/** What operators know by name: field.md, sections 4 and 6. More labels may be there. */
const expected: Readonly<Record<string, readonly string[]>> = {
  postern_requests_total: ['route', 'method', 'status', 'outcome'],
  postern_outcomes_total: ['outcome'],
  postern_request_duration_seconds_bucket: ['le', 'route'],
  postern_open_streams: ['kind'],
  postern_upstream_request_duration_seconds_bucket: ['le', 'upstream'],
  postern_upstream_up: ['upstream', 'target'],
  postern_upstream_retries_total: ['upstream'],
  postern_circuit_state: ['upstream', 'target'],
  postern_authn_total: ['result', 'carrier'],
  postern_authz_total: ['result', 'mode'],
  postern_authz_duration_seconds_bucket: ['le'],
  postern_revocations: ['kind'],
  postern_policy_info: ['revision'],
  postern_policy_rules: [],
  postern_policy_reloads_total: ['result'],
  postern_policy_last_reload_success: [],
  postern_policy_last_reload_timestamp_seconds: [],
  postern_policy_propagation_seconds_bucket: ['le'],
  postern_login_total: ['result'],
  postern_login_lockouts_total: ['by'],
  postern_captcha_total: ['result'],
  postern_login_log_dropped_total: [],
  postern_ratelimit_rejected_total: ['route'],
  postern_mode_info: ['mode'],
}

/** Labels whose values come from the code, the configuration or the policy, and never from a client. */
const closedLabels = new Set([
  ...['route', 'method', 'status', 'outcome', 'upstream', 'target', 'kind', 'le', 'carrier'],
  ...['result', 'step', 'mode', 'by', 'version', 'revision', 'source', 'engine', 'state'],
  ...['kid', 'algorithm', 'signs', 'reason', 'issuer'],
])

describe('what a gateway exposes', () => {
  test('has the names and labels that operators expect, all of them documented, and no label besides', async () => {
    const exposed = await scrapeOfABusyGateway()

    const missing = Object.entries(expected).flatMap(([name, labels]) => {
      const known = exposed.get(name)
      if (known === undefined) return [name]
      return labels.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`)
    })
    expect(missing).toEqual([])
    const ours = [...exposed].filter(([name]) => name.startsWith('postern_'))
    const open = ours.flatMap(([name, labels]) =>
      [...labels].filter((label) => !closedLabels.has(label)).map((label) => `${name}{${label}}`),
    )
    expect(open).toEqual([])
    const table = readFileSync('docs/metrics.md', 'utf8')
    const untold = ours
      .map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''))
      .filter((name) => !table.includes(`\`${name}\``))
    expect([...new Set(untold)]).toEqual([])
  })
})

describe('alert rules and the board', () => {
  test('select metrics and labels that a gateway has', async () => {
    const exposed = await scrapeOfABusyGateway()

    const wrong = expressions.flatMap(([where, expression]) =>
      selectorsIn(expression).flatMap(({ metric, labels }) => {
        if (metric === ofPrometheus) return []
        const known = exposed.get(metric)
        if (known === undefined) return [`${where}: no metric ${metric}`]
        return labels
          .filter(({ name }) => !known.has(name) && !ofTarget.includes(name))
          .map(({ name }) => `${where}: ${metric} has no label ${name}`)
      }),
    )

    expect(wrong).toEqual([])
    expect(exposed.get('postern_requests_total')).toEqual(
      new Set(['route', 'method', 'status', 'outcome']),
    )
  })

  test('compare with outcomes that there are', () => {
    const others = ['ok', 'passed', 'bug', 'denied', 'same']
    const kinds = new Set([...Object.keys(refusals), ...Object.keys(faults), ...others])

    const values = expressions.flatMap(([, expression]) =>
      selectorsIn(expression).flatMap(({ labels }) =>
        labels
          .filter(({ name }) => name === 'outcome' || name === 'result')
          .flatMap(({ value }) => value.split('|')),
      ),
    )

    expect(values.length).toBeGreaterThan(5)
    expect(values.filter((value) => !kinds.has(value))).toEqual([])
  })

  test('are written in PromQL', () => {
    expect(expressions.length).toBeGreaterThan(60)
    expect(() => selectorsIn('sum by (x (rate(y[5m]))')).toThrow(/not PromQL/)
    for (const [, expression] of expressions) selectorsIn(expression)
  })
})

describe('the alert rules', () => {
  test('have a name of their own, a severity and a sentence each', () => {
    const names = rules.map(({ alert }) => alert)

    expect(names).toEqual([...new Set(names)])
    for (const { alert, labels, annotations } of rules) {
      expect(['page', 'ticket'], alert).toContain(labels.severity)
      expect(annotations.summary, alert).toMatch(/\w.*[.)]$/)
    }
  })

  test.each([
    'postern_requests_total',
    'postern_outcomes_total',
    'postern_login_total',
    'postern_captcha_total',
    'postern_policy_last_reload_success',
    'postern_policy_follow_last_reload_success',
    'postern_policy_info',
    'postern_clock_offset_seconds',
    'postern_revocations_stale',
    'postern_login_log_dropped_total',
    'postern_key_last_reload_success',
    'postern_circuit_state',
    'postern_upstream_ejections_total',
    'postern_workers_outdated',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
  ])('watch %s', (metric) => {
    const watching = rules.filter(({ expr }) =>
      selectorsIn(expr).some((selector) => selector.metric === metric),
    )

    expect(watching).not.toEqual([])
  })

  test('are explained to operators one by one', () => {
    const page = readFileSync('docs/alerts.md', 'utf8')
    const explained = [...page.matchAll(/`(Postern[A-Z]\w+)`/g)].map(([, name]) => name)

    expect([...new Set(explained)].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })
})

describe('the board', () => {
  test.each([
    'postern_upstream_ejected',
    'postern_upstream_ejections_total',
    'postern_config_info',
    'postern_config_reloads_total',
    'postern_config_last_reload_success',
    'postern_config_last_reload_timestamp_seconds',
    'postern_config_restart_needed',
    'postern_workers_outdated',
    'postern_policy_follow_reloads_total',
    'postern_policy_follow_last_reload_success',
    'postern_policy_follow_checked_timestamp_seconds',
  ])('shows %s', (metric) => {
    const shown = [
      ...board.panels.flatMap(({ targets = [] }) => targets),
      ...board.annotations.list,
    ]

    expect(
      shown.filter(({ expr }) => selectorsIn(expr).some((one) => one.metric === metric)),
    ).not.toEqual([])
  })

  test('has no panel on top of another', () => {
    const cells = board.panels.flatMap(({ title, gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => ({
        cell: `${x + (at % w)},${y + Math.floor(at / w)}`,
        title,
      })),
    )

    expect(new Set(cells.map(({ cell }) => cell)).size).toBe(cells.length)
  })
})

describe('the chart', () => {
  const manifests = render({
    files: ['existing-secrets'],
    set: ['metrics.dashboard.enabled=true'],
  })

  test('brings the board as the ConfigMap that Grafana looks for', () => {
    const { metadata, data } = only(manifests, 'ConfigMap', 'shop-postern-dashboard')

    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' })
    expect(JSON.parse(data?.['postern.json'] ?? '')).toEqual(board)
  })
})
