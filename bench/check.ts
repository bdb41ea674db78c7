import { compareWith, readBaseline, tolerance } from './run/baseline.ts'
import { bystandersText } from './run/docs.ts'
import { readOptions } from './run/options.ts'
import { runAll } from './run/run.ts'
import { asText } from './run/tables.ts'

/*
 * A quick run against the ratios in bench/baseline.json. Fails when one has become worse by more
 * than the tolerance, or when Postern itself could not be measured.
 */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(130))

// Before the run: without it there is nothing to compare with.
const baseline = readBaseline()
const { report } = await runAll(readOptions(['--quick', ...process.argv.slice(2)]))
const compared = compareWith(baseline, report.targets)
const text = (value: number | undefined) => value?.toFixed(value < 0.1 ? 4 : 3) ?? '–'
console.log(
  `\n${asText([
    ['ratio', 'kept', 'now', ''],
    ...compared.map(({ what, kept, now, worse }) => [
      what,
      text(kept),
      text(now),
      now === undefined ? 'not measured' : worse ? 'WORSE' : 'as good',
    ]),
  ])}`,
)
if (report.bystanders !== undefined) console.log(`\n${bystandersText(report.bystanders)}`)
for (const { peer, workload = '', why } of report.leftOut) {
  console.log(`left out: ${peer} ${workload}: ${why}`)
}
const worse = compared.filter((one) => one.worse)
if (worse.length > 0) {
  console.log(`${worse.length} ratios are more than ${tolerance * 100} % worse than what is kept`)
  process.exitCode = 1
}
if (compared.every(({ now }) => now === undefined)) {
  console.log('nothing could be compared')
  process.exitCode = 1
}
