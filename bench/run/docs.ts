import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bystanders, percent } from './bystanders.ts'
import { drawChart } from './chart.ts'
import { disturbances } from './extras.ts'
import { bench, checkout } from './places.ts'
import type { Report } from './report.ts'
import { asMarkdown, cpuTable, disturbedTable, targetTable, workloadTable } from './tables.ts'

/** Fills the markers of docs/performance.md and bench/NOTES.md, and draws the chart. */
export function writeDocs(report: Report): void {
  const names = disturbances.map(({ name }) => name)
  fill(join(checkout, 'docs', 'performance.md'), {
    machine: machineText(report),
    targets: asMarkdown(targetTable(report.targets)),
    get: asMarkdown(workloadTable('get', report)),
  })
  fill(join(bench, 'NOTES.md'), {
    cpu: asMarkdown(cpuTable(report)),
    thousand: asMarkdown(workloadTable('thousand', report)),
    disturbed: asMarkdown(disturbedTable(names, report)),
    versions: versionsText(report),
  })
  writeFileSync(join(checkout, 'docs', 'performance.svg'), drawChart(report))
}

function fill(document: string, parts: Readonly<Record<string, string>>): void {
  let text = readFileSync(document, 'utf8')
  for (const [name, part] of Object.entries(parts)) text = between(text, name, part)
  writeFileSync(document, text)
}

/** Replaces what stands between `<!-- bench:name -->` and `<!-- /bench:name -->`. */
export function between(text: string, name: string, part: string): string {
  const [start, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document has no place for ${name}`)
  return `${text.slice(0, from + start.length)}\n${part}\n${text.slice(to)}`
}

function machineText({ quick, date, machine, rounds, seconds, ...rest }: Report): string {
  const { cores, cpu, memoryGib, kernel, load: before } = machine
  return [
    `${quick ? 'Quick' : 'Full'} run of ${date.slice(0, 10)}: ${cores} cores of ${cpu}, ${memoryGib} GiB, ${kernel}, load ${before} before`,
    `the run. Medians of ${rounds} rounds of ${seconds} s. Load generator: ${rest.load}. Upstream: ${rest.upstream}.`,
    bystandersText(rest.bystanders),
  ].join('\n')
}

/** One sentence for the document and the terminal. */
export function bystandersText({ idle, others }: Bystanders): string {
  const most = idle === undefined ? '0 %' : `${percent(idle.share)} of a core (${idle.peer})`
  const outside = `programs outside the run used ${percent(others)} on average`
  return `During a measurement no idle peer used more than ${most}; ${outside}.`
}

function versionsText({ peers, leftOut }: Report): string {
  const versions = [...new Set(peers.map(({ version }) => version))].map((text) => `- ${text}`)
  const failures = leftOut.map(({ peer, workload, round, why }) => {
    const where = [peer, workload, round && `round ${round}`].filter(Boolean).join(', ')
    return `- ${where}: ${why}`
  })
  const title = failures.length === 0 ? 'Nothing was left out.' : 'Left out or failed:'
  return [...versions, '', title, ...(failures.length === 0 ? [] : ['', ...failures])].join('\n')
}
