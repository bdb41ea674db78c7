import { join } from 'node:path'
import { type CommandSpec, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { readPolicyDirectory } from '../policy/directory.ts'
import { sendInSession } from './api-session.ts'
import { approveRemotely } from './approve.ts'
import { askConsole, changeMs, questionMs } from './ask-console.ts'
import { askFirst } from './ask-first.ts'
import { type Chosen, chooseOperation, type Typed } from './choose.ts'
import { type Gateway, type GatewayOptions, openGateway } from './gateway.ts'
import { printedType } from './printed.ts'
import type { Sent } from './send.ts'

/** Lets the console of a gateway run a command, and prints what it printed. */
export async function runRemotely(
  spec: CommandSpec,
  typed: Typed,
  options: GatewayOptions,
  io: Io,
): Promise<number> {
  if (spec.name === 'policy approve' && typed.options.has('key')) {
    const gateway = namedGateway(options, io)
    return gateway === undefined ? exitCodes.usage : approveRemotely(typed, gateway, io)
  }
  const chosen = chooseOperation(spec, typed)
  if (typeof chosen === 'string') {
    io.err(`postern: ${printable(chosen)}\n`)
    return exitCodes.usage
  }
  const gateway = namedGateway(options, io)
  if (gateway === undefined) return exitCodes.usage
  const sent = await requestOf(chosen, io)
  if (chosen.operation.fixed?.includes('--yes') && !typed.options.has('yes')) {
    await askFirst(chosen, (each) => sendInSession(gateway, each, io), io)
  }
  const printed = await askConsole(gateway, sent, io)
  io.out(printed.out)
  io.err(printed.err)
  return printed.code
}

/** Says what is wrong with the URL, without the usage of a command that is right. */
function namedGateway(options: GatewayOptions, io: Io): Gateway | undefined {
  try {
    return openGateway(options, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`postern: ${printable(error.message)}\n`)
    return undefined
  }
}

async function requestOf({ operation, input, directory }: Chosen, io: Io): Promise<Sent> {
  const path = operation.command.replaceAll(' ', '/')
  const common = { accept: printedType } as const
  if (operation.kind === undefined) {
    const query = new URLSearchParams(
      Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return { ...common, method: 'GET', path: `${path}?${query}`, timeoutMs: questionMs }
  }
  const draft = directory === undefined ? {} : await readDraft(directory, io)
  const waitMs = Number(input['wait'] ?? 0) * 1000
  const timeoutMs = operation.kind === 'draft' ? questionMs : changeMs + waitMs
  return { ...common, method: 'POST', path, body: { ...draft, ...input }, timeoutMs }
}

/** The files of a policy directory, with names relative to it. */
async function readDraft(directory: string, io: Io) {
  if (/^git:|^live$|^r-[0-9a-f]+$/.test(directory)) {
    throw new UsageError(`with --gateway, ${directory} must be a directory of this machine`)
  }
  const { files, tests } = await readPolicyDirectory(directory, io)
  const below = join(directory, 'x').length - 1
  const named = [...files, ...tests].map(({ name, text }) => ({ name: name.slice(below), text }))
  return { files: named, directory }
}
