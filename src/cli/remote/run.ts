import { type CommandSpec, print, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { askConsole, sendInSession } from './api-session.ts'
import { approveRemotely } from './approve.ts'
import { askFirst } from './ask-first.ts'
import { chooseOperation, type Typed } from './choose.ts'
import { type Gateway, type GatewayOptions, openGateway } from './gateway.ts'
import { chooseDirectoryPush, isDirectoryPush, pushDirectory } from './push.ts'
import { readDraft, requestOf } from './request.ts'

/** Lets the console of a gateway run a command, and prints what it printed. */
export async function runRemotely(
  spec: CommandSpec,
  typed: Typed,
  options: GatewayOptions,
  { propose, io }: { readonly propose: CommandSpec; readonly io: Io },
): Promise<number> {
  if (spec.name === 'policy approve' && typed.options.has('key')) {
    const gateway = namedGateway(options, io)
    return gateway === undefined ? exitCodes.usage : approveRemotely(typed, gateway, io)
  }
  const isDirectory = isDirectoryPush(spec.name, typed)
  const chosen = isDirectory
    ? chooseDirectoryPush(typed, { push: spec, propose })
    : chooseOperation(spec, typed)
  if (typeof chosen === 'string') {
    io.err(`postern: ${printable(chosen)}\n`)
    return exitCodes.usage
  }
  const gateway = namedGateway(options, io)
  if (gateway === undefined) return exitCodes.usage
  if ('push' in chosen) {
    return pushDirectory(chosen, gateway, { isAsked: !typed.options.has('yes'), io })
  }
  const { directory } = chosen
  const draft = directory === undefined ? undefined : await readDraft(directory, io)
  const sent = requestOf(chosen, draft)
  if (chosen.operation.asksFirst && !typed.options.has('yes')) {
    await askFirst(chosen, (each) => sendInSession(gateway, each, io), io)
  }
  return print(await askConsole(gateway, sent, io), io)
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
