import type { Bystanders } from './bystanders.ts'
import type { Machine } from './machine.ts'
import type { Peer } from './peer.ts'
import type { CellName, Figure, Figures, Results } from './results.ts'
import type { Verdict } from './targets.ts'

/** Why something was not measured. */
export interface Failure {
  readonly peer: string
  readonly workload?: string
  readonly round?: number
  readonly why: string
}

/** One peer under one workload: medians over the rounds. */
export interface Row extends CellName, Figures {
  /** The lowest and the highest round of the first figure of this row. */
  readonly spread: readonly [low: number, high: number]
  /**
   * That figure of Postern, divided by this one, round by round. For logins and reloads: what they
   * do to p99 at the same gateway, divided by this phase.
   */
  readonly ratio?: number
}

/** A run without its samples, as bench/result.json keeps it. */
export interface Report {
  readonly date: string
  readonly quick: boolean
  readonly rounds: number
  readonly seconds: number
  readonly machine: Machine
  readonly upstream: string
  readonly load: string
  readonly bystanders: Bystanders
  readonly peers: readonly ReportedPeer[]
  readonly targets: readonly Verdict[]
  readonly rows: readonly Row[]
  readonly leftOut: readonly Failure[]
}

export interface ReportedPeer extends Pick<Peer, 'name' | 'title' | 'kind'> {
  readonly rules?: number
  readonly version: string
}

export function reportedPeer({ name, title, kind, rules, version }: Peer): ReportedPeer {
  return { name, title, kind, ...(rules !== undefined && { rules }), version: version() }
}

const figures: readonly Figure[] = ['cpuMicros', 'perSecond', 'p50', 'p99', 'residentMb']

/** The rows of all cells that have a sample. */
export function rowsOf(results: Results): readonly Row[] {
  return results.cells().flatMap(({ peer, workload }) => {
    const cell = { peer, workload }
    const known = figures.flatMap((figure) => {
      const median = results.median(cell, figure)
      return median === undefined ? [] : [[figure, rounded(median)] as const]
    })
    const [[first, median] = [], ...others] = known
    if (first === undefined) return []
    const samples = results.samples(cell, first)
    const phase = workload.replace(/-(?:calm|elsewhere)$/, '')
    const ratio = results.ratio({ peer: 'postern', workload: phase }, cell, first)
    return {
      ...cell,
      [first]: median,
      spread: [rounded(Math.min(...samples)), rounded(Math.max(...samples))] as const,
      ...(ratio !== undefined && { ratio: rounded(ratio) }),
      ...Object.fromEntries(others),
    }
  })
}

/** Four significant digits are more than a run can repeat. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(4))
}

/** JSON with one line for each peer, target and row, so that people can read it and diff it. */
export function reportText(report: Report): string {
  const members = Object.entries(report).map(([name, value]) => {
    const lines = Array.isArray(value) ? value.map((one) => `    ${JSON.stringify(one)}`) : []
    const text = lines.length > 0 ? `[\n${lines.join(',\n')}\n  ]` : JSON.stringify(value)
    return `  ${JSON.stringify(name)}: ${text}`
  })
  return `{\n${members.join(',\n')}\n}\n`
}

/** What a row says of a figure. */
export function figureOf(
  { rows }: Pick<Report, 'rows'>,
  { peer, workload }: CellName,
  figure: Figure | 'ratio',
): number | undefined {
  return rows.find((row) => row.peer === peer && row.workload === workload)?.[figure]
}

/** A peer's name in tables: with the number of rules it decides by. */
export function fullTitle({ title, rules }: Pick<ReportedPeer, 'title' | 'rules'>): string {
  return rules === undefined ? title : `${title}, ${grouped(rules)} rules`
}

/** A number with thousands separators. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A figure with as many digits as it deserves. */
export function figureText(value: number | undefined): string {
  if (value === undefined) return '–'
  if (value >= 100) return grouped(value)
  return value.toFixed(1)
}
