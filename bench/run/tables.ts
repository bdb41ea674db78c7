import { figureOf, figureText, fullTitle, grouped, type Report } from './report.ts'
import type { Figure } from './results.ts'
import type { Verdict } from './targets.ts'
import { workloads } from './workloads.ts'

/** Rows of text, the first of them the heading; the first column stands to the left. */
export type Table = readonly (readonly string[])[]

/** CPU time of each peer under each workload. */
export function cpuTable(report: Report): Table {
  const used = workloads.filter(
    ({ name, forSeveral }) => !forSeveral && report.rows.some(({ workload }) => workload === name),
  )
  return [
    ['CPU µs per request', ...used.map(({ title }) => title)],
    ...report.peers.map((peer) => [
      fullTitle(peer),
      ...used.map(({ name }) =>
        figureText(figureOf(report, { peer: peer.name, workload: name }, 'cpuMicros')),
      ),
    ]),
  ]
}

const columns: readonly (readonly [Figure, string])[] = [
  ['cpuMicros', 'CPU µs'],
  ['perSecond', 'requests/s'],
  ['p50', 'p50 ms'],
  ['p99', 'p99 ms'],
  ['residentMb', 'resident MB'],
]

/** Every figure of each peer under one workload. */
export function workloadTable(name: string, report: Report): Table {
  const title = workloads.find((workload) => workload.name === name)?.title ?? name
  const rows = report.peers.map((peer) => [
    fullTitle(peer),
    ...columns.map(([figure]) =>
      figureText(figureOf(report, { peer: peer.name, workload: name }, figure)),
    ),
  ])
  const measured = rows.filter((row) => row.slice(1).some((text) => text !== '–'))
  return [[title, ...columns.map(([, heading]) => heading)], ...measured]
}

/** The p99 of calls to a gateway: calm, with the disturbance at another gateway, and at this one. */
export function disturbedTable(names: readonly string[], report: Pick<Report, 'rows'>): Table {
  const cell = (workload: string) => ({ peer: 'postern', workload })
  return [
    ['p99 of calls, ms', 'calm', 'at another gateway', 'at this one', 'to calm', 'to the other'],
    ...names.map((name) => {
      const phases = [`${name}-calm`, `${name}-elsewhere`, name]
      const ratios = [`${name}-calm`, `${name}-elsewhere`].map((other) =>
        figureOf(report, cell(other), 'ratio'),
      )
      return [
        name,
        ...phases.map((phase) => figureText(figureOf(report, cell(phase), 'p99'))),
        ...ratios.map((ratio) => (ratio === undefined ? '–' : ratio.toFixed(2))),
      ]
    }),
  ]
}

/** What was to be reached, and whether it was. */
export function targetTable(verdicts: readonly Verdict[]): Table {
  return [
    ['target', 'at most', 'measured', ''],
    ...verdicts.map(({ what, limit, value, reached }) => [
      what,
      limitText(limit),
      value === undefined ? '–' : limitText(value),
      reached === undefined ? 'not measured' : reached ? 'reached' : 'NOT reached',
    ]),
  ]
}

function limitText(value: number): string {
  return value >= 100 ? grouped(value) : value < 0.1 ? value.toFixed(3) : value.toFixed(2)
}

/** For a terminal. */
export function asText(table: Table): string {
  const widths = (table[0] ?? []).map((_, at) =>
    Math.max(...table.map((row) => row[at]?.length ?? 0)),
  )
  return table
    .map((row) =>
      row
        .map((text, at) =>
          at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** For a document. */
export function asMarkdown(table: Table): string {
  const [heading = [], ...rows] = table
  const rule = heading.map((_, at) => (at === 0 ? '---' : '--:'))
  return [heading, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
