import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawChart } from './chart.ts'
import type { IdleShare } from './idle.ts'
import { checkout } from './places.ts'
import type { Report } from './report.ts'
import type { Results } from './results.ts'
import { asMarkdown, cpuTable, targetTable, workloadTable } from './tables.ts'

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
  idle,
}: Report): string {
  const { cores, cpu, memoryGib, kernel, load: before } = machine
  const kind = quick ? 'A quick run' : 'A full run'
  const versions = [...new Set(peers.map(({ version }) => version))].map((text) => `- ${text}`)
  return [
    `${kind} of ${date.slice(0, 10)}: ${cores} cores of ${cpu}, ${memoryGib} GiB, ${kernel}, load`,
    `${before} before the run. ${rounds} rounds of ${seconds} s for each figure, after a warm-up;`,
    `the median counts. Load: ${load}. Upstream: ${upstream}.`,
    ...(idle === undefined ? [] : [idleText(idle)]),
    '',
    ...versions,
  ].join('\n')
}

function idleText({ peer, share }: IdleShare): string {
  const percent = `${(share * 100).toFixed(1)} % of a core`
  return `No peer used more than ${percent} while another was measured (${peer}).`
}

function leftOutText({ leftOut }: Report): string {
  if (leftOut.length === 0) return 'Nothing was left out of this run.'
  const lines = leftOut.map(({ peer, workload, round, why }) => {
    const where = [peer, workload, round && `round ${round}`].filter(Boolean).join(', ')
    return `- ${where}: ${why}`
  })
  return ['Left out of this run, or failed in it:', '', ...lines].join('\n')
}
