import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findPromtool } from './services/find-promtool.ts'

/** Samples of one series, a minute apart, in the notation of promtool: `0x5 10+10x60`. */
export interface InputSeries {
  readonly series: string
  readonly values: string
}

/** Which alerts must fire, and which must not, after so many minutes of these series. */
export interface AlertCase {
  readonly series: readonly InputSeries[]
  readonly minutes: number
  readonly fires?: readonly string[]
  readonly silent?: readonly string[]
}

const rules = resolve('helm/postern/alerts/postern.rules.yaml')

/** Why the rules cannot be tried here, if they cannot. */
export function promtoolMissing(): string | undefined {
  try {
    findPromtool()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Every alert of the rules. */
export function alertNames(): readonly string[] {
  return [...readFileSync(rules, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
}

/** What promtool says against a file of rules; empty when it accepts it. */
export function checkRules(file = rules): string {
  return complaints('check', file)
}

/** What promtool says against the cases, by the rules as they are or in `file`; empty when all hold. */
export function tryRules(
  cases: readonly AlertCase[],
  { everyMinutes = 1, file: ruleFile = rules } = {},
): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-promtool-'))
  const file = join(directory, 'test.yaml')
  const tests = cases.map(({ series, minutes, fires = [], silent = [] }) => ({
    interval: '1m',
    input_series: series,
    promql_expr_test: [
      ...fires.map((alert) => expectation(alert, minutes, true)),
      ...silent.map((alert) => expectation(alert, minutes, false)),
    ],
  }))
  try {
    const suite = { rule_files: [ruleFile], evaluation_interval: `${everyMinutes}m`, tests }
    writeFileSync(file, JSON.stringify(suite))
    return complaints('test', file)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function expectation(alert: string, minutes: number, fires: boolean) {
  return {
    expr: `group by (alertname) (ALERTS{alertname="${alert}", alertstate="firing"})`,
    eval_time: `${minutes}m`,
    exp_samples: fires ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
  }
}

function complaints(command: 'check' | 'test', file: string): string {
  const { status, stdout, stderr } = spawnSync(findPromtool(), [command, 'rules', file], {
    encoding: 'utf8',
  })
  return status === 0 ? '' : stdout + stderr
}
