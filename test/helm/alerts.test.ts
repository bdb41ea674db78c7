import { describe, expect, onTestFinished, test } from 'vitest'
import { logIn, postLogin } from '../support/log-in.ts'
import {
  alertNames,
  checkRules,
  type InputSeries,
  promtoolMissing,
  tryRules,
} from '../support/promtool.ts'
import { startRedis } from '../support/redis-server.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const missing = promtoolMissing()
if (missing !== undefined) console.warn(`left out: the tests of the alert rules; ${missing}`)

const target = 'namespace="web",job="postern",instance="10.0.0.1:9100"'
const twin = target.replace('10.0.0.1', '10.0.0.2')

async function samples({ opsPort }: TestPostern): Promise<ReadonlyMap<string, string>> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  const lines = text.split('\n').filter((line) => /^postern_(?!.*_bucket)/.test(line))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), line.replace(/^.* /, '')]))
}

/** A series of a gateway with the labels that Prometheus adds. */
function labelled(series: string, labels = target): string {
  return series.endsWith('}') ? series.replace(/\}$/, `,${labels}}`) : `${series}{${labels}}`
}

/** What a gateway shows that has just started. */
let fresh: ReadonlyMap<string, string> | undefined

/**
 * Five minutes of a gateway that has just started, as it was scraped, and then `values` for what
 * happens to it. A series that the gateway did not show before appears then, as in Prometheus.
 */
async function afterStart(
  happens: Readonly<Record<string, string>>,
): Promise<readonly InputSeries[]> {
  fresh ??= await samples(await startPostern())
  const names = new Set([...fresh.keys(), ...Object.keys(happens)])
  return [...names].map((series) => {
    const value = fresh?.get(series)
    const start = value === undefined ? '_x5' : `${value}x5`
    return { series: labelled(series), values: `${start} ${happens[series] ?? `${value}x90`}` }
  })
}

const mode = (labels: string) => `postern_mode_info{mode="prod",version="0.1.0",${labels}}`

describe.skipIf(missing !== undefined)('by promtool, the alert rules', () => {
  test('are valid', () => {
    expect(checkRules()).toBe('')
  })

  test.each([
    ['the first bug', 'PosternBug', { 'postern_outcomes_total{outcome="bug"}': '1x90' }, 10],
    [
      'wrong passwords before any login succeeded',
      'PosternLoginFailures',
      { 'postern_login_total{result="wrong-credentials"}': '60+60x90' },
      30,
    ],
    [
      'refusals, and none the day before',
      'PosternRefusalsJump',
      { 'postern_authz_total{result="denied",step="none",mode="enforce"}': '120+120x90' },
      30,
    ],
    [
      'keys of another issuer that could not be fetched for an hour',
      'PosternIssuerKeysOld',
      { 'postern_issuer_key_age_seconds{issuer="sso"}': '0+60x90' },
      90,
    ],
    [
      'a clock that is two hours behind',
      'PosternClockOffset',
      { postern_clock_offset_seconds: '-7200x90' },
      10,
    ],
    [
      'captchas that end in 503',
      'PosternCaptchaUnavailable',
      { 'postern_captcha_total{result="redis"}': '1+1x90' },
      15,
    ],
    [
      'logins that end in 503',
      'PosternLoginUnavailable',
      { 'postern_login_total{result="database"}': '1+1x90' },
      15,
    ],
    [
      'the first requests that are shed',
      'PosternOverloaded',
      { 'postern_outcomes_total{outcome="overloaded"}': '5+5x90' },
      10,
    ],
    [
      'fifty lock-outs at once',
      'PosternLoginLockouts',
      { 'postern_login_lockouts_total{by="address"}': '60x90' },
      8,
    ],
    [
      'connections over a limit',
      'PosternConnectionsRejected',
      { 'postern_connections_rejected_total{reason="address"}': '20x90' },
      8,
    ],
    [
      'name lookups that keep failing',
      'PosternUpstreamDns',
      { 'postern_upstream_dns_failures_total{upstream="backend"}': '1+1x90' },
      20,
    ],
    ['the first lost log lines', 'PosternLogDropped', { postern_log_dropped_total: '1x90' }, 10],
  ])('report %s of a new gateway', async (_, alert, happens, minutes) => {
    const series = await afterStart(happens)
    const before = { series, minutes: 4, silent: [alert] }

    expect(tryRules([before, { series, minutes, fires: [alert] }])).toBe('')
  })

  test('are silent about a new gateway', async () => {
    const series = await afterStart({})
    const silent = alertNames()

    expect(tryRules([{ series, minutes: 30, silent }])).toBe('')
  })

  test('report a rejected configuration file until it is right again', () => {
    const series = [
      { series: labelled('postern_config_last_reload_success'), values: '1x10 0x10 1x40' },
    ]

    expect(firesBetween('PosternConfigRejected', series, [9, 15, 30])).toBe('')
  })

  test('report workers with an older configuration until they have the active one', () => {
    const series = [{ series: labelled('postern_workers_outdated'), values: '0x10 1x10 0x40' }]

    expect(firesBetween('PosternWorkersOutdated', series, [9, 15, 30])).toBe('')
  })

  test('report a target that is ejected again and again, and not one ejection', () => {
    const metric = 'postern_upstream_ejections_total'
    const labels = '{upstream="backend", target="http://a:1", reason="error-share"}'
    const series = [{ series: labelled(metric + labels), values: '0x10 1x30 1+1x5 6x90' }]

    expect(firesBetween('PosternTargetEjected', series, [30, 50, 120])).toBe('')
  })

  test('report a bug that came before the first scrape', () => {
    const series = [
      { series: labelled('postern_outcomes_total{outcome="bug"}'), values: '_x30 1x60' },
      { series: labelled('postern_outcomes_total{outcome="passed"}'), values: '_x30 9x60' },
    ]
    const soon = { series, minutes: 32, fires: ['PosternBug'] }

    expect(tryRules([soon, { series, minutes: 60, silent: ['PosternBug'] }])).toBe('')
  })

  test.each(['login', 'captcha'] as const)('do not page for a single 503 of %s', async (of) => {
    const total = `postern_${of}_total`
    const once = await afterStart({ [`${total}{result="redis"}`]: '1x90' })
    const fewOfMany = await afterStart({
      [`${total}{result="redis"}`]: '3x90',
      [`${total}{result="ok"}`]: '2+2x90',
    })
    const silent = ['PosternLoginUnavailable', 'PosternCaptchaUnavailable']
    const single = [6, 8, 10, 15].map((minutes) => ({ series: once, minutes, silent }))

    expect(tryRules([...single, { series: fewOfMany, minutes: 15, silent }])).toBe('')
  })

  test('PosternPolicyFollowStopped reports a follower that stopped, and one that hangs', () => {
    const alert = 'PosternPolicyFollowStopped'
    const follower = (success: string, checked: string) => [
      { series: labelled('postern_policy_follow_last_reload_success'), values: success },
      { series: labelled('postern_policy_follow_checked_timestamp_seconds'), values: checked },
    ]
    const stopped = follower('1x10 0x20 1x20', '0+60x60')
    const hangs = follower('1x60', '0+60x10 600x60')

    expect(
      tryRules([
        { series: follower('1x60', '0+60x60'), minutes: 55, silent: [alert] },
        { series: stopped, minutes: 12, silent: [alert] },
        { series: stopped, minutes: 20, fires: [alert] },
        { series: stopped, minutes: 40, silent: [alert] },
        { series: hangs, minutes: 30, silent: [alert] },
        { series: hangs, minutes: 50, fires: [alert] },
      ]),
    ).toBe('')
  })

  test.each([
    ['PosternPolicySnapshotOutdated', 'postern_policy_snapshot_current'],
    ['PosternRevocationsSnapshotOutdated', 'postern_revocations_snapshot_current'],
  ])('%s reports a snapshot that stays outdated, not one that is being written', (alert, gauge) => {
    const outdated = (values: string) => [{ series: labelled(gauge), values }]

    expect(
      tryRules([
        { series: outdated('1x10 0x20'), minutes: 12, silent: [alert] },
        { series: outdated('1x10 0x20'), minutes: 20, fires: [alert] },
        { series: outdated('1x10 0x2 1x20'), minutes: 20, silent: [alert] },
      ]),
    ).toBe('')
  })

  test('report a policy that policy.trust rejects while it is there, from the first attempt', () => {
    const series = [
      {
        series: labelled('postern_policy_rejected_total{reason="unsigned"}'),
        values: '0x10 1+20x10 201x20',
      },
      { series: labelled('postern_policy_rejected_total{reason="replayed"}'), values: '0x40' },
    ]
    const alert = 'PosternPolicyRejected'

    expect(
      tryRules([
        { series, minutes: 9, silent: [alert] },
        { series, minutes: 12, fires: [alert] },
        { series, minutes: 20, fires: [alert] },
        { series, minutes: 35, silent: [alert] },
      ]),
    ).toBe('')
  })

  test('report targets whose circuit is half-open between trials that fail', () => {
    const circuit = (target: string, values: string) => ({
      series: labelled(`postern_circuit_state{upstream="orders",target="${target}"}`),
      values,
    })
    const requests = (values: string) => ({
      series: labelled('postern_upstream_request_duration_seconds_count{upstream="orders"}'),
      values,
    })
    const failing = '0x5 2 1x3 2 1x3 2 1x40'
    const only = [circuit('http://a', failing), requests('0+9x50')]
    const one = [...only, circuit('http://b', '0x50')]
    const recovered = [circuit('http://a', '0x5 2 0x40'), requests('0+9x50')]
    // Half-open until a request tries it, and nothing calls.
    const idle = [circuit('http://a', '0x5 2 1x40'), requests('0+9x5 45x40')]
    const silent = ['PosternUpstreamGone', 'PosternCircuitOpen']

    expect(
      tryRules([
        { series: only, minutes: 15, fires: silent },
        {
          series: one,
          minutes: 15,
          fires: ['PosternCircuitOpen'],
          silent: ['PosternUpstreamGone'],
        },
        { series: recovered, minutes: 15, silent },
        { series: idle, minutes: 15, silent },
      ]),
    ).toBe('')
  })

  test('are silent about a failed lookup or a few rejected connections', async () => {
    const series = await afterStart({
      'postern_upstream_dns_failures_total{upstream="backend"}': '1x90',
      'postern_connections_rejected_total{reason="connections"}': '5x90',
    })
    const silent = ['PosternUpstreamDns', 'PosternConnectionsRejected']

    expect(tryRules([8, 12, 30].map((minutes) => ({ series, minutes, silent })))).toBe('')
  })

  test('report a gateway without a policy, and gateways that differ', () => {
    const policy = (labels: string, revision: string, values: string) => ({
      series: `postern_policy_info{revision="${revision}",${labels}}`,
      values,
    })
    const both = [
      { series: mode(target), values: '1x30' },
      { series: mode(twin), values: '1x30' },
    ]
    const without = [...both, policy(target, 'r-a', '1x30')]
    const differ = [...without, policy(twin, 'r-b', '1x30')]
    const same = [...without, policy(twin, 'r-a', '1x30')]
    const [none, revisions] = ['PosternPolicyNone', 'PosternPolicyRevisionsDiffer']

    expect(
      tryRules([
        { series: without, minutes: 10, fires: [none], silent: [revisions] },
        { series: differ, minutes: 10, fires: [revisions], silent: [none] },
        { series: same, minutes: 10, silent: [none, revisions] },
      ]),
    ).toBe('')
  })

  test('compare refusals with those of the day before, where there were some', () => {
    const denied = labelled('postern_authz_total{result="denied",step="none",mode="enforce"}')
    const day = 24 * 60
    const steady = [{ series: denied, values: `0+120x${day + 60}` }]
    const jump = [{ series: denied, values: `0+120x${day} ${120 * day}+1200x60` }]
    const minutes = day + 30

    expect(
      tryRules(
        [
          { series: steady, minutes, silent: ['PosternRefusalsJump'] },
          { series: jump, minutes, fires: ['PosternRefusalsJump'] },
        ],
        { everyMinutes: 10 },
      ),
    ).toBe('')
  })

  test('report one gateway of two that is down, and page only when both are', () => {
    const up = (labels: string, values: string) => ({ series: `up{${labels}}`, values })
    const shown = (labels: string, values: string) => ({ series: mode(labels), values })
    const one = [
      up(target, '1x90'),
      up(twin, '1x10 0x80'),
      shown(target, '1x90'),
      shown(twin, '1x10 stale'),
    ]
    const both = [
      up(target, '1x10 0x80'),
      up(twin, '1x10 0x80'),
      shown(target, '1x10 stale'),
      shown(twin, '1x10 stale'),
    ]
    // Gateways of another job do not hide that all of this one are down.
    const besides = [...both, shown(target.replace('web', 'staging'), '1x90')]

    expect(
      tryRules([
        { series: one, minutes: 12, silent: ['PosternDown'] },
        { series: one, minutes: 20, fires: ['PosternDown'], silent: ['PosternAbsent'] },
        { series: both, minutes: 20, fires: ['PosternAbsent'] },
        { series: besides, minutes: 20, fires: ['PosternAbsent'] },
      ]),
    ).toBe('')
  })

  test('leave other programs that are down to their own rules', () => {
    const series = [
      { series: 'up{namespace="web",job="shop",instance="10.0.0.7:80"}', values: '0x90' },
      { series: mode(target), values: '1x90' },
    ]

    expect(tryRules([{ series, minutes: 30, silent: ['PosternDown', 'PosternAbsent'] }])).toBe('')
  })
})

describe('counters with labels', () => {
  test('are there at 0 before anything happens, under the names they count with', async () => {
    const redis = await startRedis()
    let stopped = false
    onTestFinished(async () => {
      if (!stopped) await redis.stop()
    })
    const bug = () => Promise.reject(new TypeError('a bug'))
    const options = { config: { application: { mode: 'dev' }, redis: { url: redis.url } } }
    const postern = await startPostern({ ...options, verifyPassword: bug })
    const before = await samples(postern)

    await postLogin(postern, { username: 'editor', password: 'x', uuid: '-', code: '-' })
    await postern.call('GET /api/v1/sys-user', { as: 'editor' })
    await redis.stop()
    stopped = true
    await postern.call('GET /api/v1/getCaptcha')

    const counted = [
      'postern_outcomes_total{outcome="bug"}',
      'postern_login_total{result="bug"}',
      'postern_captcha_total{result="redis"}',
      'postern_authn_total{result="ok",carrier="header"}',
      'postern_authz_total{result="denied",step="none",mode="enforce"}',
    ]
    await until(async () => {
      const now = await samples(postern)
      return counted.every((series) => now.get(series) === '1')
    })
    expect(counted.map((series) => before.get(series))).toEqual(counted.map(() => '0'))
  })

  test('are 0 for routes with a limit and for upstreams too', async () => {
    const limit = { requests: 1, seconds: 60 }
    const postern = await startPostern({
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/scarce', upstream: 'backend', limit },
      ],
    })

    const shown = await samples(postern)

    expect(shown.get('postern_ratelimit_rejected_total{route="/scarce"}')).toBe('0')
    expect(shown.has('postern_ratelimit_rejected_total{route="/"}')).toBe(false)
    expect(shown.get('postern_upstream_retries_total{upstream="backend"}')).toBe('0')
    expect(shown.get('postern_login_lockouts_total{by="account"}')).toBe('0')
  })

  test('do not make a scrape long: a new gateway has at most 200 series of its own counters', async () => {
    const postern = await startPostern()

    const counters = [...(await samples(postern)).keys()].filter((name) => /_total\b/.test(name))

    expect(counters.length).toBeLessThan(200)
  })

  test('add up by outcome to what is counted by route', async () => {
    const postern = await startPostern({ config: { application: { mode: 'dev' } } })
    await logIn(postern)
    await postern.call('GET /api/v1/sys-user', { as: 'editor' })
    await postern.call('GET /api/v1/articles/7', { as: 'editor' })

    const passed = 'postern_outcomes_total{outcome="passed"}'
    await until(async () => (await samples(postern)).get(passed) === '2')
    expect((await samples(postern)).get('postern_outcomes_total{outcome="not-permitted"}')).toBe(
      '1',
    )
  })
})

/** What is wrong with an alert that is to be silent, to fire, and to be silent again at these minutes. */
function firesBetween(
  alert: string,
  series: Parameters<typeof tryRules>[0][number]['series'],
  [before, during, after]: readonly [number, number, number],
): string {
  return tryRules([
    { series, minutes: before, silent: [alert] },
    { series, minutes: during, fires: [alert] },
    { series, minutes: after, silent: [alert] },
  ])
}
