import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { only, render } from '../support/chart.ts'
import { selectorsIn } from '../support/promql.ts'
import { checkRules, promtoolMissing, tryRules } from '../support/promtool.ts'

const missing = promtoolMissing()
if (missing !== undefined) console.warn(`left out: the rendered alert rules; ${missing}`)

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

const inFile = parse(readFileSync('helm/postern/alerts/postern.rules.yaml', 'utf8')) as Rules
const { thresholds } = parse(readFileSync('helm/postern/values.yaml', 'utf8')).metrics
  .prometheusRule as { readonly thresholds: Readonly<Record<string, number>> }

/** The labels that Prometheus gives to what it reads through the ServiceMonitor of release `shop`. */
const ours = 'namespace="web",job="shop-postern-ops"'

function rendered(...set: readonly string[]): Rules {
  const { spec } = only(
    render({
      files: ['existing-secrets'],
      set: ['enabled=true', ...set].map((one) => `metrics.prometheusRule.${one}`),
    }),
    'PrometheusRule',
  )
  return spec as Rules
}

function byName({ groups }: Rules): ReadonlyMap<string, Rule> {
  return new Map(groups.flatMap(({ rules }) => rules.map((rule) => [rule.alert, rule])))
}

/** The expression as it is for all gateways that a Prometheus reads. */
const unscoped = (expr: string) => expr.replaceAll(`{${ours}}`, '').replaceAll(`{${ours},`, '{')

const spread = (rules: Rules) => ({
  groups: rules.groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({ ...rule, expr: unscoped(rule.expr) })),
  })),
})

describe('the alert rules of a release', () => {
  test('are those of the file, about its own gateways alone', () => {
    const rules = rendered()

    expect(spread(rules)).toEqual(inFile)
    for (const { alert, expr } of byName(rules).values()) {
      for (const { metric, labels } of selectorsIn(expr)) {
        expect(labels, `${alert}: ${metric}`).toEqual(
          expect.arrayContaining([
            expect.objectContaining({ name: 'namespace', value: 'web' }),
            expect.objectContaining({ name: 'job', value: 'shop-postern-ops' }),
          ]),
        )
      }
    }
  })

  test('select gateways as the operator says, where another job reads them', () => {
    const { expr = '' } = byName(rendered('matchers=job="edge"')).get('PosternModeDev') ?? {}

    expect(expr).toBe('postern_mode_info{job="edge",mode="dev"}')
  })

  test('fire at the thresholds of the values, each in one place', () => {
    const names = Object.keys(thresholds)
    const rules = byName(rendered(...names.map((name) => `thresholds.${name}=4711.5`)))

    const before = byName(inFile)
    for (const [name, { expr }] of rules) {
      const other = unscoped(expr)
      if (names.includes(name)) {
        expect(other.split('4711.5'), name).toHaveLength(2)
        expect(other.replace('4711.5', String(thresholds[name])), name).toBe(before.get(name)?.expr)
      } else expect(other, name).toBe(before.get(name)?.expr)
    }
  })

  test('can be left out and changed one by one', () => {
    const rules = byName(
      rendered(
        'disabled={PosternMemory,PosternRetries}',
        'overrides.PosternFaults.for=9m',
        'overrides.PosternFaults.labels.severity=ticket',
        'overrides.PosternFaults.labels.team=shop',
      ),
    )
    const faults = byName(inFile).get('PosternFaults')

    expect(rules.size).toBe(byName(inFile).size - 2)
    expect([...rules.keys()]).not.toContain('PosternMemory')
    expect(rules.get('PosternFaults')).toMatchObject({
      for: '9m',
      labels: { severity: 'ticket', team: 'shop' },
      annotations: faults?.annotations,
    })
    expect(rules.get('PosternBug')?.labels).toEqual({ severity: 'ticket' })
  })
})

describe.skipIf(missing !== undefined)('by promtool, the alert rules of a release', () => {
  function written(...set: readonly string[]): string {
    const directory = mkdtempSync(join(tmpdir(), 'postern-rules-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const file = join(directory, 'rules.yaml')
    writeFileSync(file, JSON.stringify(rendered(...set)))
    return file
  }
  const bug = (labels: string) => [
    { series: `postern_outcomes_total{outcome="bug",${labels}}`, values: '0x5 1x30' },
  ]

  test('are valid', () => {
    expect(checkRules(written())).toBe('')
  })

  test('report what happens to its gateways, and not what happens to those of another release', () => {
    const series = bug(`${ours},instance="10.0.0.1:9100"`)
    const others = bug('namespace="web",job="pay-postern-ops",instance="10.0.0.2:9100"')

    expect(
      tryRules(
        [
          { series, minutes: 10, fires: ['PosternBug'] },
          { series: others, minutes: 10, silent: ['PosternBug'] },
        ],
        { file: written() },
      ),
    ).toBe('')
  })

  test('report from another threshold on', () => {
    const series = [
      { series: `postern_login_lockouts_total{by="address",${ours}}`, values: '0x5 30x30' },
    ]
    const alert = ['PosternLoginLockouts']

    expect(tryRules([{ series, minutes: 8, silent: alert }], { file: written() })).toBe('')
    const file = written('thresholds.PosternLoginLockouts=20')
    expect(tryRules([{ series, minutes: 8, fires: alert }], { file })).toBe('')
  })
})
