import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeBaseline } from './run/baseline.ts'
import { bystandersText, writeDocs } from './run/docs.ts'
import { type Options, readOptions, usage } from './run/options.ts'
import { bench } from './run/places.ts'
import type { Report } from './run/report.ts'
import { createResults } from './run/results.ts'
import { type Run, runAll } from './run/run.ts'
import { asText, cpuTable, targetTable, workloadTable } from './run/tables.ts'
import { judge } from './run/targets.ts'

/*
 * The gateway and its peers, side by side in one run: CPU time per request of their processes by
 * what the kernel says, throughput, latency and resident memory. See docs/performance.md.
 */

function again(file: string): Run {
  const report: Report = JSON.parse(readFileSync(file, 'utf8'))
  const results = createResults(report.cells, report.pairs)
  return { report: { ...report, targets: judge(results) }, results }
}

function standardFile({ quick, peers, workloads, from }: Options): string | undefined {
  const isFull = !quick && peers === undefined && workloads === undefined && from === undefined
  return isFull ? join(bench, 'result.json') : undefined
}

// What was started is ended by what listens to `exit`.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(130))

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit()
}
const options = readOptions(process.argv.slice(2))
const { report, results } = await (options.from === undefined
  ? runAll(options)
  : again(options.from))

console.log(`\n${asText(cpuTable(report, results))}`)
const shown = ['get', 'thousand'].filter((name) =>
  report.cells.some(({ workload }) => workload === name),
)
for (const name of shown) console.log(`\n${asText(workloadTable(name, report, results))}`)
const isWhole = options.peers === undefined && options.workloads === undefined
const judged = report.targets.filter(({ value }) => isWhole || value !== undefined)
if (judged.length > 0) console.log(`\n${asText(targetTable(judged))}`)
if (report.bystanders !== undefined) console.log(`\n${bystandersText(report.bystanders)}`)
for (const { peer, workload = '', round, why } of report.leftOut) {
  console.log(`left out: ${[peer, workload, round].filter(Boolean).join(' ')}: ${why}`)
}

const file = options.result ?? standardFile(options)
if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`)
if (options.writeDocs) writeDocs(report, results)
if (options.writeBaseline) writeBaseline(report)
