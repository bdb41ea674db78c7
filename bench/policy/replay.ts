// What it costs to replay a decision log, as the command does it: CPU time per decision, and memory.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { decide, type Question } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { createSample } from './policy.ts'

const usage = `npm run bench:replay -- [--records N] [--rules N,N]

  --records N  decisions in the longer log (3000000); the shorter one has a tenth
  --rules N,N  sizes of the policy (1000,100000)

The target is 300,000 decisions per second of CPU time, and memory that does not grow with the log.
`

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '3000000' },
    rules: { type: 'string', default: '1000,100000' },
    help: { type: 'boolean', default: false },
  },
})
const records = Number(values.records)
const sizes = values.rules.split(',').map(Number)
if (values.help || ![records / 10, ...sizes].every((each) => Number.isInteger(each) && each > 0)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

/** Each hundredth rule is missing in the policy that is asked. */
const missing = 100
const forms = {
  'own lines': (record: object) => JSON.stringify(record),
  gzip: (record: object) => JSON.stringify(record),
  // As after a log shipper, with further fields, so that JSON.parse reads each line.
  'shipped lines': (record: object) =>
    JSON.stringify({ stream: 'stdout', ...record, cluster: 'eu-1' }),
}
type Form = keyof typeof forms

interface Recorded extends Question {
  readonly verdict: object
  readonly revision: string
}

/** Of ten calls nine are allowed. */
function recordedBy(files: ReturnType<typeof createSample>): readonly Recorded[] {
  const policies = compile(parsePolicySet(files.files))
  const misses = files.misses.filter((_, at) => at % 9 === 0)
  return [...files.hits, ...misses].map((question) => {
    const { allowed, step, rule, exclusion } = decide(question, policies)
    const origin = (rule ?? exclusion)?.origin
    const verdict = {
      result: allowed ? 'allow' : 'deny',
      reason: step === 'none' ? 'no-rule' : 'rule-allows',
      step,
      ...(origin && { rule: { file: origin.file, line: origin.line } }),
    }
    return { ...question, verdict, revision: policies.revision }
  })
}

function* linesOf(calls: readonly Recorded[], form: Form, count: number): Generator<string> {
  for (let at = 0; at < count; at++) {
    // Neighbors in the log have nothing in common.
    const call = calls[(at * 7919) % calls.length] as Recorded
    yield forms[form]({
      level: 'info',
      decision_id: randomUUID(),
      timestamp: new Date(1_790_000_000_000 + at * 13).toISOString(),
      request_id: randomUUID(),
      revision: call.revision,
      subject: { user_id: String(at % 50_021), role_key: call.roleKey },
      method: call.method,
      path: call.path,
      ...call.verdict,
      duration_us: (at % 50) / 10,
      labels: { pod: 'postern-6c5f7d9b8-x2x4q', version: '0.1.0' },
      msg: 'decision',
    })
  }
}

async function writeLog(file: string, lines: Generator<string>, isGzip: boolean): Promise<void> {
  const out = createWriteStream(file)
  const into = isGzip ? createGzip() : out
  if (into !== out) into.pipe(out)
  let text = ''
  for (const line of lines) {
    text += `${line}\n`
    if (text.length < 1_000_000) continue
    if (!into.write(text)) await once(into, 'drain')
    text = ''
  }
  into.end(text)
  await finished(out)
}

const inHere = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Cost {
  readonly cpuSeconds: number
  readonly megabytes: number
  readonly asked: number
  readonly changed: number
}

/** Runs the command in a process of its own. */
function measure(log: string, policies: string): Cost {
  const args = ['--import', inHere('measure-diff.ts'), inHere('../../src/main.ts')]
  const command = ['policy', 'replay', log, '--policies', policies, '--output', 'json']
  const { stdout, stderr } = spawnSync(process.execPath, [...args, ...command], {
    cwd: parent,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const { asked, wouldDeny, wouldAllow } = JSON.parse(stdout) as Record<string, number>
  const cost = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as Cost
  return { ...cost, asked: asked ?? 0, changed: (wouldDeny ?? 0) + (wouldAllow ?? 0) }
}

const parent = await mkdtemp(join(tmpdir(), 'postern-bench-replay-'))
try {
  for (const rules of sizes) {
    const sample = createSample(rules)
    const calls = recordedBy(sample)
    const policies = join(parent, `policies-${rules}`)
    await mkdir(policies)
    for (const { name, text } of sample.files) {
      const lines = text.split('\n').filter((_, at) => at % missing !== missing - 1)
      await writeFile(join(policies, name), name.endsWith('.csv') ? lines.join('\n') : text)
    }
    for (const form of Object.keys(forms) as Form[]) {
      const costs: Cost[] = []
      for (const count of [records / 10, records]) {
        const log = join(parent, 'decisions.jsonl')
        await writeLog(log, linesOf(calls, form, count), form === 'gzip')
        costs.push(measure(log, policies))
        await rm(log)
      }
      process.stdout.write(`${rules.toLocaleString('en')} rules, ${form}: ${inWords(costs)}\n`)
    }
  }
} finally {
  await rm(parent, { recursive: true })
}

/** The difference of both runs is what decisions cost, without the start of the program. */
function inWords([short, long]: readonly Cost[]): string {
  if (short === undefined || long === undefined) return ''
  const seconds = long.cpuSeconds - short.cpuSeconds
  const perSecond = (long.asked - short.asked) / seconds
  const share = ((100 * long.changed) / long.asked).toFixed(1)
  return [
    `${(1e6 / perSecond).toFixed(2)} µs CPU per decision`,
    `${Math.round(perSecond).toLocaleString('en')} decisions/s`,
    `${short.megabytes.toFixed(0)} MB for ${short.asked.toLocaleString('en')} decisions`,
    `${long.megabytes.toFixed(0)} MB for ${long.asked.toLocaleString('en')}`,
    `${share} % change`,
  ].join(', ')
}
