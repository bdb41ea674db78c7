// What it costs to compare two large policies that differ in a few lines, as the command does it.
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const usage = `npm run bench:diff -- [--rules N] [--changed N]

  --rules N    rules of each policy (1000000), of 2,000 roles in chains of ten
  --changed N  lines that differ (20)

The target for 1,000,000 rules and 20 lines is 10 s of CPU and 1.5 GB.
`

const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '1000000' },
    changed: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})
const [rules, changed] = [Number(values.rules), Number(values.changed)]
const isValid = [rules, changed].every((each) => Number.isInteger(each) && each > 0)
if (values.help || !isValid || changed > rules) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

const model = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*")
`
const roles = 2000
const methods = ['GET', 'POST', 'PUT', 'DELETE']

/** The lines of a policy; every `step`th rule is for another path if it is edited. */
function linesOf({
  ownPaths,
  step,
}: {
  readonly ownPaths: boolean
  readonly step: number
}): string {
  let text = ''
  for (let at = 0; at < rules; at++) {
    const resource = ownPaths
      ? `tenant-${at % 7919}/resource-${at}`
      : `resource-${Math.floor(at / roles)}`
    const tail = step > 0 && at % step === step - 1 ? 'entries' : 'items'
    text += `p, role-${at % roles}, /api/v1/${resource}/${tail}/:id, ${methods[at % 4]}\n`
  }
  for (let at = 1; at < roles; at++) if (at % 10 !== 0) text += `g, role-${at}, role-${at - 1}\n`
  return text
}

async function writePolicy(directory: string, text: string): Promise<string> {
  await mkdir(directory)
  await writeFile(join(directory, 'model.conf'), model)
  await writeFile(join(directory, 'policy.csv'), text)
  return directory
}

const inHere = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Runs the command in a process of its own. */
function measure(from: string, to: string) {
  const args = ['--import', inHere('measure-diff.ts'), inHere('../../src/main.ts')]
  const { stdout, stderr } = spawnSync(process.execPath, [...args, 'policy', 'diff', from, to], {
    cwd: parent,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const cost = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as {
    readonly cpuSeconds: number
    readonly megabytes: number
  }
  return { ...cost, lines: stdout.split('\n').length - 1 }
}

const parent = await mkdtemp(join(tmpdir(), 'postern-bench-diff-'))
try {
  for (const ownPaths of [false, true]) {
    const kind = ownPaths ? 'own' : 'shared'
    const step = Math.floor(rules / changed)
    const from = await writePolicy(join(parent, `${kind}-old`), linesOf({ ownPaths, step: 0 }))
    const to = await writePolicy(join(parent, `${kind}-new`), linesOf({ ownPaths, step }))
    const { lines, cpuSeconds, megabytes } = measure(from, to)
    process.stdout.write(
      `${rules.toLocaleString('en')} rules, ${kind} paths, ${changed.toLocaleString('en')} lines changed: ${cpuSeconds.toFixed(1)} s CPU, ${megabytes.toFixed(0)} MB, ${lines.toLocaleString('en')} lines printed\n`,
    )
  }
} finally {
  await rm(parent, { recursive: true })
}
