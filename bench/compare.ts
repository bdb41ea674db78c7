import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeBaseline } from './run/baseline.ts'
import { bystandersText, writeDocs } from './run/docs.ts'
import { type Options, readOptions, usage } from './run/options.ts'
import { bench } from './run/places.ts'
import { type Report, reportText } from './run/report.ts'
import { runAll } from './run/run.ts'
import { asText, cpuTable, targetTable, workloadTable } from './run/tables.ts'

/*
 * The gateway and its peers, side by side in one run: CPU time per request of their processes by
 * what the kernel says, throughput, latency and resident memory. See docs/performance.md and NOTES.md.
 */

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
const report: Report =
  options.from === undefined
    ? await runAll(options)
    : JSON.parse(readFileSync(options.from, 'utf8'))

console.log(`\n${asText(cpuTable(report))}`)
const shown = ['get', 'thousand'].filter((name) =>
  report.rows.some(({ workload }) => workload === name),
)
for (const name of shown) console.log(`\n${asText(workloadTable(name, report))}`)
const isWhole = options.peers === undefined && options.workloads === undefined
const judged = report.targets.filter(({ value }) => isWhole || value !== undefined)
if (judged.length > 0) console.log(`\n${asText(targetTable(judged))}`)
console.log(`\n${bystandersText(report.bystanders)}`)
for (const { peer, workload = '', round, why } of report.leftOut) {
  console.log(`left out: ${[peer, workload, round].filter(Boolean).join(' ')}: ${why}`)
}

const file = options.result ?? standardFile(options)
if (file !== undefined) writeFileSync(file, reportText(report))
if (options.writeDocs) writeDocs(report)
if (options.writeBaseline) writeBaseline(report)
