#!/usr/bin/env node
import { fstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { accountCommands, accountUsage } from './cli/commands/account-commands.ts'
import { keysCommands, keysUsage } from './cli/commands/keys-commands.ts'
import { policyCommands, policyUsage } from './cli/commands/policy-commands.ts'
import type { Command, Io } from './cli/io.ts'
import { later } from './cli/lazy-command.ts'
import { reportError } from './cli/report-error.ts'
import type { Config } from './config/schema/schema.ts'
import type { RunningPostern, ServeOptions } from './serve/options.ts'
import type { supervise } from './serve/supervise.ts'
import { version } from './version.ts'
import { StartEnded } from './workers/start-ended.ts'

const usage = `postern: an API gateway that checks who calls and whether they may

  postern serve [--config FILE]          run the gateway
  postern config check [FILE]            validate a configuration and the files it names; exit 3 if not usable
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

  const signals = watchSignals()
  const { loadConfig, workerCount, tour } = await startParts()
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const { count, why } = workerCount(config)
  const isTerminal = process.stdout.isTTY === true
  const { log, life, passOn, passOnErrors } = await begin(
    config,
    count === 1
      ? { base: undefined, isTerminal }
      : { base: { pid: process.pid }, isTerminal, longerMs: crewMs },
  )
  signals.tell(life.asked, () => log.warn(nothingToReload))
  if (why !== undefined) log.info({ workers: count, reason: why }, 'application.workers is auto')
  if (life.hurry.aborted) return life.exitCode()
  const postern =
    count === 1
      ? await serveHere({ config, log, hurry: life.hurry })
      : await superviseHere({
          config,
          log,
          count,
          output: {
            isTerminal,
            isFile: fstatSync(process.stdout.fd).isFile(),
            passOn,
            passOnErrors,
          },
          life,
          crewMs,
        })
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

  return life.end(postern.close)
}

/** A gateway in a process that is there for nothing else. */
async function serveHere(options: ServeOptions): Promise<RunningPostern> {
  const { serve } = await import('./serve/serve.ts')
  const { settleProcess } = await import('./serve/settle-process.ts')
  return serve({ ...options, beforeListening: settleProcess })
}

/** The same for a supervisor, before its workers have anything that they could wait for. */
async function superviseHere(parts: Parameters<typeof supervise>[0]): ReturnType<typeof supervise> {
  const { supervise } = await import('./serve/supervise.ts')
  const { settleProcess } = await import('./serve/settle-process.ts')
  settleProcess()
  return supervise(parts)
}

/** What the workers of a gateway may take longer than one of them should. */
const crewMs = 10_000

const nothingToReload =
  'SIGHUP: policies, keys and certificates are watched; other settings need a restart'

/** One of the processes of `serve`: started by it, told by it what to do. */
const workerCommand: Command = async (_, io) => {
  const { default: cluster } = await import('node:cluster')
  const { worker } = cluster
  if (worker === undefined) {
    io.err('postern worker is started by postern serve, where application.workers is above 1\n')
    return 2
  }

  const signals = watchSignals()
  const told = Promise.withResolvers<void>()
  signals.tell(told.resolve, () => {})
  const { work } = await import('./workers/worker.ts')
  const { drainMs } = await import('./serve/draining.ts')
  let code = 0
  await work({
    worker,
    signal: told.promise,
    async serve({ number, config, isTerminal, ticketKeys }) {
      const base = { worker: number, pid: process.pid }
      const { log, life } = await begin(config, { base, isTerminal })
      // A terminal that is closed tells the supervisor as well, which alone can see that it is one.
      signals.tell(life.asked, () => {})
      void life.told.then(told.resolve)
      const asWorker = { number, ticketKeys: Buffer.from(ticketKeys, 'base64') }
      const gateway = await serveHere({ config, log, hurry: life.hurry, asWorker })
      const mayClose = Promise.withResolvers<void>()
      const ended = life.end(() => mayClose.promise.then(gateway.close))
      return {
        ...gateway,
        async close(withinMs) {
          life.begin(withinMs)
          mayClose.resolve()
          code = await ended
        },
        hurry: life.cut,
        hurried: life.hurry,
        waitMs: () => life.leftMs() - drainMs(config),
      }
    },
  })
  return code
}

/**
 * The log on standard output, and from here on errors that nobody caught lead to an end in order.
 * `longerMs`: what the end may take besides what is configured.
 */
async function begin(config: Config, { base, isTerminal, longerMs = 0 }: BeginOptions) {
  const [{ openLog }, { createLife }] = await Promise.all([
    import('./serve/open-log.ts'),
    import('./serve/shutdown.ts'),
  ])
  const { stdout, stderr, env } = process
  const output = { fd: stdout.fd, errorFd: stderr.fd, isTerminal, env }
  const { log, describe, passOn, passOnErrors, flush } = openLog(config, output, base)
  process.on('exit', flush)
  const { deadlineMs, failureDeadlineMs } = config.shutdown
  const life = createLife({
    log,
    shutdown: {
      deadlineMs: deadlineMs + longerMs,
      failureDeadlineMs: failureDeadlineMs + longerMs,
    },
    describe,
    exit: (code) => process.exit(code),
  })
  // Both: a Node that is told to only warn of rejections calls the second alone.
  process.on('uncaughtException', life.failed)
  process.on('unhandledRejection', (error) => life.failed(error, 'unhandledRejection'))
  return { log, life, passOn, passOnErrors }
}

interface BeginOptions {
  readonly base: Readonly<Record<string, number>> | undefined
  /** Whether people read the log on a terminal. */
  readonly isTerminal: boolean
  readonly longerMs?: number
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

interface Signals {
  /** Who is told of them from now on, also of one that came before anybody was. */
  tell(end: () => void, reload: () => void): void
}

/**
 * Hears signals from now on, for the first process of a container gets none that it does not listen
 * to, and tells of them once there is somebody to tell. A terminal that is closed sends SIGHUP, and
 * means the end; from anywhere else it asks a daemon to reload.
 */
function watchSignals(): Signals {
  let early = false
  let onEnd = () => {
    early = true
  }
  let onReload = () => {}
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => onEnd())
  process.on('SIGHUP', () => (process.stdout.isTTY === true ? onEnd() : onReload()))
  return {
    tell(end: () => void, reload: () => void) {
      ;[onEnd, onReload] = [end, reload]
      if (early) end()
    },
  }
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
  'config check': later(async () => (await import('./cli/config/check.ts')).configCheck),
  'config print': later(async () => (await import('./cli/config/print.ts')).configPrint),
  'config schema': later(async () => (await import('./cli/config/schema.ts')).configSchema),
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
    const { USER, LOGNAME } = process.env
    return USER || LOGNAME || `uid ${process.getuid?.() ?? 'unknown'}`
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
