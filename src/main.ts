#!/usr/bin/env node
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { configCheck } from './cli/config-check.ts'
import { configPrint } from './cli/config-print.ts'
import { configSchema } from './cli/config-schema.ts'
import type { Command, Io } from './cli/io.ts'
import { tour } from './cli/tour.ts'
import { userCommand } from './cli/user.ts'
import { loadConfig } from './config/load.ts'
import { Fault, Invalid } from './errors.ts'
import { createLog } from './log.ts'
import { serve } from './serve.ts'
import { version } from './version.ts'

const usage = `postern: an API gateway that checks who calls and whether they may

  postern serve [--config FILE]          run the gateway
  postern config check [FILE]            is this configuration usable? exit 3 if not
  postern config print [FILE]            the configuration in force, defaults included
  postern config schema                  the JSON Schema of the configuration
  postern user add NAME --role KEY       make an account; prints its password once
  postern user passwd NAME               give an account a new password
  postern user list                      who has an account
  postern user disable NAME              close an account
  postern version                        which Postern this is

FILE defaults to POSTERN_CONFIG, else config/postern.yaml.
Exit codes: 0 yes, 1 no or fault, 2 bad arguments, 3 configuration or policy invalid.
`

/** Runs the gateway until a signal ends it. */
const serveCommand: Command = async (args, io) => {
  const options = serveOptions(args)
  if (options === undefined) {
    io.err('usage: postern serve [--config FILE] [--tour]\n')
    return 2
  }

  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const log = createLog(config.logger.level)
  const signal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  const postern = await serve({ config, log })
  const { publicPort, opsPort, revision, seeded } = postern
  log.info({ port: publicPort, opsPort, revision }, 'listening')
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
  'config check': configCheck,
  'config print': configPrint,
  'config schema': configSchema,
  user: userCommand,
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

  const two = commands[`${first} ${second}`]
  if (two !== undefined) return two(argv.slice(2), io)
  const one = commands[first]
  if (one !== undefined) return one(argv.slice(1), io)

  io.err(first === '' ? usage : `postern: no such command: ${argv.join(' ')}\n\n${usage}`)
  return 2
}

/** One clear line for what a person can mend, a stack only for what is our mistake. */
function report(error: unknown, io: Io): number {
  if (error instanceof Invalid) {
    io.err(`${error.message}\n`)
    return 3
  }
  if (error instanceof Fault) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    io.err(`postern: ${error.message}${cause}\n`)
    return 1
  }
  io.err(`${error instanceof Error ? error.stack : String(error)}\n`)
  return 1
}

const io: Io = {
  out: (line) => void process.stdout.write(line),
  err: (line) => void process.stderr.write(line),
  env: process.env,
  cwd: process.cwd(),
  readStdin: () => text(process.stdin),
}

process.exitCode = await main(process.argv.slice(2), io).catch((error) => report(error, io))
