#!/usr/bin/env node
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { accountCommands, accountUsage } from './cli/account-commands.ts'
import type { Command, Io } from './cli/io.ts'
import { keysCommands, keysUsage } from './cli/keys-commands.ts'
import { later } from './cli/later.ts'
import { policyCommands, policyUsage } from './cli/policy-commands.ts'
import { reportError } from './cli/report-error.ts'
import { version } from './version.ts'
import { StartEnded } from './workers/start-ended.ts'

const usage = `postern: an API gateway that checks who calls and whether they may

  postern serve [--config FILE]          run the gateway
  postern config check [FILE]            is this configuration usable? exit 3 if not
  postern config print [FILE]            the configuration in force, defaults included
  postern config schema                  the JSON Schema of the configuration
${policyUsage}${accountUsage}${keysUsage}  postern version                        which Postern this is

FILE defaults to POSTERN_CONFIG, else config/postern.yaml.
Exit codes: 0 yes, 1 no or fault, 2 bad arguments, 3 configuration or policy invalid, 4 policy tests
failed.
`

/** Runs the gateway until a signal ends it. */
const serveCommand: Command = async (args, io) => {
  const options = serveOptions(args)
  if (options === undefined) {
    io.err('usage: postern serve [--config FILE] [--tour]\n')
    return 2
  }

  const { loadConfig, workerCount, tour } = await startParts()
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const { count, why } = workerCount(config)
  const log = await openLog(config.logger.level, count === 1 ? undefined : { pid: process.pid })
  if (why !== undefined) log.info({ workers: count, reason: why }, 'application.workers is auto')
  const signal = anySignal()
  const postern =
    count === 1
      ? await (await import('./serve.ts')).serve({ config, log })
      : await (await import('./supervise.ts')).supervise({ config, log, count, told: signal })
  const { publicPort, opsPort, forwardAuthPort, revision, seeded } = postern
  const workers = count === 1 ? undefined : count
  log.info({ port: publicPort, opsPort, forwardAuthPort, revision, workers }, 'listening')
  for (const { username, roleKey, password } of seeded) {
    io.out(`account made: ${username} (role ${roleKey}), password ${password}\n`)
  }
  if (options.tour === true) {
    const editorPassword = seeded.find(({ username }) => username === 'editor')?.password
    io.out(tour({ address: `http://127.0.0.1:${publicPort}`, editorPassword }))
  }

  await signal
  log.info('closing')
  await postern.close()
  return 0
}

/** One of the processes of `serve`: started by it, told by it what to do. */
const workerCommand: Command = async (_, io) => {
  const { default: cluster } = await import('node:cluster')
  const { worker } = cluster
  if (worker === undefined) {
    io.err('postern worker is started by postern serve, where application.workers is above 1\n')
    return 2
  }

  const signal = anySignal()
  const { work } = await import('./workers/work.ts')
  await work({
    worker,
    signal,
    async serve({ number, config, ticketKeys }) {
      const log = await openLog(config.logger.level, { worker: number, pid: process.pid })
      const { serve } = await import('./serve.ts')
      const asWorker = { ticketKeys: Buffer.from(ticketKeys, 'base64') }
      return serve({ config, log, asWorker })
    },
  })
  return 0
}

/** The log on standard output; `base` tells processes apart that share it. */
async function openLog(level: string, base: Readonly<Record<string, number>> | undefined) {
  const [{ createLog }, { createLogDestination }] = await Promise.all([
    import('./log.ts'),
    import('./log-destination.ts'),
  ])
  const destination = createLogDestination(process.stdout.fd, { shared: base !== undefined })
  process.on('exit', destination.flushSync)
  return createLog(level, destination, base)
}

/** What only a gateway needs; every other command is there sooner without it. */
async function startParts() {
  const [config, counting, touring] = await Promise.all([
    import('./config/load.ts'),
    import('./workers/worker-count.ts'),
    import('./cli/tour.ts'),
  ])
  return { ...config, ...counting, ...touring }
}

/** The first signal. Later ones change nothing: a terminal sends one, and what runs us another. */
function anySignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve())
  })
}

function serveOptions(args: readonly string[]) {
  try {
    const options = { config: { type: 'string' }, tour: { type: 'boolean' } } as const
    return parseArgs({ args: [...args], options }).values
  } catch {
    return undefined
  }
}

const commands: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  worker: workerCommand,
  'config check': later(async () => (await import('./cli/config-check.ts')).configCheck),
  'config print': later(async () => (await import('./cli/config-print.ts')).configPrint),
  'config schema': later(async () => (await import('./cli/config-schema.ts')).configSchema),
  ...policyCommands,
  ...accountCommands,
  ...keysCommands,
  version: async (_, io) => {
    io.out(`${version}\n`)
    return 0
  },
  help: async (_, io) => {
    io.out(usage)
    return 0
  },
}

async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first = '', second = ''] = argv
  if (first === '--help' || first === '-h') return main(['help'], io)

  const find = (name: string) => (Object.hasOwn(commands, name) ? commands[name] : undefined)
  const two = find(`${first} ${second}`)
  if (two !== undefined) return two(argv.slice(2), io)
  const one = find(first)
  if (one !== undefined) return one(argv.slice(1), io)

  io.err(first === '' ? usage : `postern: no such command: ${argv.join(' ')}\n\n${usage}`)
  return 2
}

const io: Io = {
  out: (line) => void process.stdout.write(line),
  err: (line) => void process.stderr.write(line),
  env: process.env,
  cwd: process.cwd(),
  readStdin: () => text(process.stdin),
  isTerminal: process.stdin.isTTY === true && process.stderr.isTTY === true,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await lines.question(question)
    } catch {
      // An input that ends, or Ctrl-C, is an answer as well, and not a yes.
      return ''
    } finally {
      lines.close()
    }
  },
  get userName() {
    return userName()
  },
}

/** A container may run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

/** Waits until all that was written has reached its reader, or the reader has left. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

// Whoever reads only the beginning, as `head` does, leaves in good order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const argv = process.argv.slice(2)
const code = await main(argv, io).catch((error) =>
  error instanceof StartEnded ? error.exitCode : reportError(error, io),
)
// Writing to a pipe goes on in the background, and a cut answer would look like a whole one. Not so
// for the gateway: a log that nobody reads any more must not keep it here.
if (argv[0] !== 'serve' && argv[0] !== 'worker')
  await Promise.all([written(process.stdout), written(process.stderr)])
// Outright: nothing that is still open may keep us here.
process.exit(code)
