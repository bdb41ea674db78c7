import { type Comparison, compareWith, readBaseline, tolerance } from './run/baseline.ts'
import { bystandersText } from './run/docs.ts'
import { readOptions } from './run/options.ts'
import { runAll } from './run/run.ts'
import { asText } from './run/tables.ts'

/*
 * A quick run against the ratios in bench/baseline.json. Fails when one has become worse by more
 * than the tolerance, or when Postern itself could not be measured. What is worse in one run of the
 * same program on a shared machine need not be so in the next: only what is worse in two counts.
 */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(130))

// Before the run: without it there is nothing to compare with.
const baseline = readBaseline()
const options = readOptions(['--quick', ...process.argv.slice(2)])
const text = (value: number | undefined) => value?.toFixed(value < 0.1 ? 4 : 3) ?? '–'

async function compareOnce(): Promise<readonly Comparison[]> {
  const report = await runAll(options)
  const compared = compareWith(baseline, report.targets)
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
  console.log(`\n${bystandersText(report.bystanders)}`)
  for (const { peer, workload = '', why } of report.leftOut) {
    console.log(`left out: ${peer} ${workload}: ${why}`)
  }
  return compared
}

const compared = await compareOnce()
let worse = compared.filter((one) => one.worse)
if (worse.length > 0) {
  console.log(`${worse.length} ratios are worse; once more, to see whether they stay so`)
  const again = await compareOnce()
  worse = again.filter((one) => one.worse && worse.some(({ name }) => name === one.name))
}
if (worse.length > 0) {
  const names = worse.map(({ name }) => name).join(', ')
  console.log(`more than ${tolerance * 100} % worse than what is kept, twice: ${names}`)
  process.exitCode = 1
}
if (compared.every(({ now }) => now === undefined)) {
  console.log('nothing could be compared')
  process.exitCode = 1
}
