// CPU time of a gateway from its start to the first 200 of /readyz, with 10,000 rules and with stores that
// exist: the embedded database, or PostgreSQL and Redis. With --against, the two builds start in turns.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { testSecret } from '../test/support/tokens.ts'
import { createSample } from './policy/policy.ts'
import { buildPostern } from './run/build.ts'
import { posternFlags } from './run/node-flags.ts'
import { cpuSecondsOf, treeOf } from './run/processes.ts'
import { createStores, type Stores } from './run/stores.ts'

const usage = `npm run bench:startup -- [--stores embedded|shared] [--runs N] [--rules N]
                         [--against CHECKOUT] [--output text|json]

  --stores WHICH      embedded database, or shared: PostgreSQL and Redis, started for this run (embedded)
  --runs N            starts of each build (9)
  --rules N           rules of the policy (10000)
  --against CHECKOUT  another checkout to compare with, its packages installed
`

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: 'embedded' },
    runs: { type: 'string', default: '9' },
    rules: { type: 'string', default: '10000' },
    against: { type: 'string' },
    output: { type: 'string', default: 'text' },
    help: { type: 'boolean', default: false },
  },
})
const [runs, rules] = [Number(values.runs), Number(values.rules)]
const isShared = values.stores === 'shared'
if (values.help || !(isShared || values.stores === 'embedded') || !(runs >= 1) || !(rules >= 1)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

const opsPort = 39_177
const directory = await mkdtemp(join(tmpdir(), 'postern-startup-'))
const stores = createStores()
try {
  const checkouts = [
    { name: 'here', checkout: resolve(import.meta.dirname, '..') },
    ...(values.against === undefined
      ? []
      : [{ name: 'against', checkout: resolve(values.against) }]),
  ]
  const builds = checkouts.map(({ name, checkout }) => ({
    name,
    main: buildPostern(checkout, join(directory, name)),
    seconds: [] as number[],
  }))
  const config = writeConfig(directory, isShared ? await stores.open() : undefined)
  // The first start of each creates the database, or whatever else it keeps between starts.
  for (const { main } of builds) await start(main, config)
  for (let run = 0; run < runs; run++) {
    const order = run % 2 === 0 ? builds : builds.toReversed()
    for (const { main, seconds } of order) seconds.push(await start(main, config))
  }
  const result = {
    date: new Date().toISOString().slice(0, 10),
    ...{ node: process.version, cores: availableParallelism(), loadAverage: loadavg()[0] },
    ...{ stores: values.stores, rules, runs },
    builds: builds.map(({ name, seconds }) => ({ name, ...summary(seconds) })),
  }
  process.stdout.write(
    values.output === 'json' ? `${JSON.stringify(result, undefined, 2)}\n` : textOf(result.builds),
  )
} finally {
  await stores.stop()
  await rm(directory, { recursive: true, force: true })
}

function writeConfig(root: string, shared: Stores | undefined): string {
  const policies = join(root, 'policies')
  mkdirSync(policies)
  for (const { name, text } of createSample(rules).files) writeFileSync(join(policies, name), text)
  const file = join(root, 'postern.yaml')
  const config = {
    application: { host: '127.0.0.1', port: 0, dataDirectory: join(root, 'data') },
    ops: { host: '127.0.0.1', port: opsPort },
    jwt: { secret: testSecret },
    policy: { directory: policies },
    ...(shared && { redis: { url: shared.redis }, database: { url: shared.database } }),
    upstreams: { backend: { targets: ['http://127.0.0.1:9'] } },
    routes: [{ path: '/', upstream: 'backend' }],
  }
  writeFileSync(file, stringify(config))
  return file
}

/** Starts a gateway, waits until it is ready and returns the CPU seconds until then. */
async function start(main: string, config: string): Promise<number> {
  const args = [...posternFlags, main, 'serve', '--config', config]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the gateway did not start: ${complaints}`)
    await pause(10)
  }
  const seconds = cpuSecondsOf(treeOf(child.pid ?? 0))
  child.kill('SIGTERM')
  await ended
  return seconds
}

function isReady(): Promise<boolean> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port: opsPort, path: '/readyz', agent: false }, (answer) => {
      answer.resume()
      done(answer.statusCode === 200)
    }).on('error', () => done(false))
  })
}

function summary(seconds: readonly number[]) {
  const sorted = seconds.toSorted((one, other) => one - other)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  return { median, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 }
}

function textOf(builds: readonly (ReturnType<typeof summary> & { name: string })[]): string {
  const lines = builds.map(({ name, median, least, most }) => {
    return `${name.padEnd(8)} ${median.toFixed(2)} s CPU to the first answer (${least.toFixed(2)} to ${most.toFixed(2)})\n`
  })
  return lines.join('')
}
