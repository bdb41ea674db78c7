import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bystanders, percent } from './bystanders.ts'
import { drawChart } from './chart.ts'
import { disturbances } from './extras.ts'
import { checkout } from './places.ts'
import type { Report } from './report.ts'
import type { Results } from './results.ts'
import { asMarkdown, cpuTable, disturbedTable, targetTable, workloadTable } from './tables.ts'

const document = join(checkout, 'docs', 'performance.md')
const chart = join(checkout, 'docs', 'performance.svg')

/** Fills what stands between the markers of docs/performance.md, and draws its chart. */
export function writeDocs(report: Report, results: Results): void {
  const parts = {
    machine: machineText(report),
    targets: asMarkdown(targetTable(report.targets)),
    cpu: asMarkdown(cpuTable(report, results)),
    get: asMarkdown(workloadTable('get', report, results)),
    thousand: asMarkdown(workloadTable('thousand', report, results)),
    disturbed: asMarkdown(
      disturbedTable(
        disturbances.map(({ name }) => name),
        results,
      ),
    ),
    left: leftOutText(report),
  }
  let text = readFileSync(document, 'utf8')
  for (const [name, part] of Object.entries(parts)) text = between(text, name, part)
  writeFileSync(document, text)
  writeFileSync(chart, drawChart(report, results))
}

/** Replaces what stands between `<!-- bench:name -->` and `<!-- /bench:name -->`. */
export function between(text: string, name: string, part: string): string {
  const [start, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no place for ${name}`)
  return `${text.slice(0, from + start.length)}\n${part}\n${text.slice(to)}`
}

function machineText({
  quick,
  date,
  machine,
  rounds,
  seconds,
  upstream,
  load,
  peers,
  bystanders,
}: Report): string {
  const { cores, cpu, memoryGib, kernel, load: before } = machine
  const kind = quick ? 'A quick run' : 'A full run'
  const versions = [...new Set(peers.map(({ version }) => version))].map((text) => `- ${text}`)
  return [
    `${kind} of ${date.slice(0, 10)}: ${cores} cores of ${cpu}, ${memoryGib} GiB, ${kernel}, load`,
    `${before} before the run. ${rounds} rounds of ${seconds} s for each figure, after a warm-up, of which the`,
    `median counts; ratios of CPU time are of windows between them. Load: ${load}. Upstream: ${upstream}.`,
    ...(bystanders === undefined ? [] : [bystandersText(bystanders)]),
    '',
    ...versions,
  ].join('\n')
}

/** One sentence for the document and the terminal. */
export function bystandersText({ idle, others }: Bystanders): string {
  const most = idle === undefined ? 'none' : `${percent(idle.share)} of a core (${idle.peer})`
  const outside = `programs outside of the run ${percent(others)} on average`
  return `While one was measured, no idle peer used more than ${most}, ${outside}.`
}

function leftOutText({ leftOut }: Report): string {
  if (leftOut.length === 0) return 'Nothing was left out of this run.'
  const lines = leftOut.map(({ peer, workload, round, why }) => {
    const where = [peer, workload, round && `round ${round}`].filter(Boolean).join(', ')
    return `- ${where}: ${why}`
  })
  return ['Left out of this run, or failed in it:', '', ...lines].join('\n')
}
