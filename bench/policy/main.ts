// How long a decision takes, what a rule costs in memory, and what a reload does to the event loop,
// from a hundred rules to a million, with casbin beside it as far as that is bearable.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import {
  type CasbinRun,
  type IndexRun,
  type MemoryRun,
  type SizeRuns,
  tablesOf,
  targetLines,
  targetsOf,
} from './report.ts'

const usage = `npm run bench:policy -- [--quick] [--runs N] [--json FILE] [--output text|json]

  --quick        stop at 100,000 rules
  --runs N       measure everything N times and show the best and the worst (3)
  --json FILE    write the result to a file as well
  --output json  print the result as JSON instead of tables
`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    json: { type: 'string' },
    output: { type: 'string', default: 'text' },
    help: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
if (values.help || !Number.isInteger(runs) || runs < 1 || !/^(?:text|json)$/.test(values.output)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

const indexSizes = values.quick
  ? [100, 1_000, 10_000, 100_000]
  : [100, 1_000, 10_000, 100_000, 1_000_000]
const casbinSizes = [100, 1_000, 10_000]
const loadBefore = loadavg()[0]
const index = await measureAll<IndexRun>('measure-index.ts', 'index', indexSizes)
const ownPaths = await measureAll<MemoryRun>(
  'measure-memory.ts',
  'memory',
  indexSizes.filter((rules) => rules >= 10_000),
)
const casbin = await measureAll<CasbinRun>('measure-casbin.ts', 'casbin', casbinSizes)

const targets = targetsOf(index, ownPaths)
const result = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model.trim(),
  loadAverage: { before: loadBefore, after: loadavg()[0] },
  targets,
  index,
  ownPaths,
  casbin,
}
const json = `${JSON.stringify(result, null, 2)}\n`
if (values.json !== undefined) await writeFile(values.json, json)
process.stdout.write(
  values.output === 'json' ? json : `${tablesOf(index, casbin)}\n\n${targetLines(targets)}\n`,
)

/** Size after size and then again, so that a busy moment of the machine does not hit one size only. */
async function measureAll<Run>(
  script: string,
  name: string,
  sizes: readonly number[],
): Promise<readonly SizeRuns<Run>[]> {
  const bySize = sizes.map((rules) => ({ rules, runs: [] as Run[] }))
  for (let run = 1; run <= runs; run++) {
    for (const size of bySize) {
      progress(`${name}: ${size.rules.toLocaleString('en-US')} rules, run ${run} of ${runs}`)
      size.runs.push(await measure<Run>(script, size.rules))
    }
  }
  progress('')
  return bySize
}

async function measure<Run>(script: string, rules: number): Promise<Run> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    file,
    String(rules),
  ])
  return JSON.parse(stdout) as Run
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}
