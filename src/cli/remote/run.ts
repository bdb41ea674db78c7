import { type Command, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { apiWork, showAnswer } from './api-work.ts'
import { approveOnGateway } from './approve.ts'
import { type Args, chooseCall } from './choose-call.ts'
import { type Gateway, type GatewayOptions, openGateway } from './gateway.ts'
import { chooseDirectoryPush, isDirectoryPush, type PushCommands, pushDirectory } from './push.ts'
import { harmless } from './read-answer.ts'
import { readDraft } from './request.ts'

/** Lets the console of a gateway do the work of a command, and shows its answer as the command does. */
export async function runOnGateway(
  command: Command,
  typed: Args,
  options: GatewayOptions,
  { io, ...commands }: Omit<PushCommands, 'push'> & { readonly io: Io },
): Promise<number> {
  const safe: Io = {
    ...io,
    out: (text) => io.out(harmless(text)),
    err: (text) => io.err(harmless(text)),
  }
  const { name } = command.spec
  const { given } = typed
  if (name === 'policy approve' && given['key'] !== undefined) {
    const gateway = namedGateway(options, io)
    return gateway === undefined ? exitCodes.usage : approveOnGateway(command, typed, gateway, safe)
  }
  const chosen = isDirectoryPush(name, typed)
    ? chooseDirectoryPush(typed, { push: command, ...commands })
    : chooseCall(command, typed)
  if (typeof chosen === 'string') {
    io.err(`postern: ${printable(chosen)}\n`)
    return exitCodes.usage
  }
  const gateway = namedGateway(options, io)
  if (gateway === undefined) return exitCodes.usage
  if ('push' in chosen) return pushDirectory(chosen, typed, gateway, safe)
  const draft = chosen.directory === undefined ? undefined : await readDraft(chosen.directory, io)
  const isSure = given['yes'] === true
  const link = { gateway, io: safe, draft, isSure }
  return showAnswer(command, typed, link, apiWork(chosen, link))
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
