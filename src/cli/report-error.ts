import { Fault, formatProblem, Invalid } from '../errors.ts'
import { Declined, NotPermitted } from '../operations/declined.ts'
import type { CommandSpec } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { printable } from './format.ts'
import type { Io } from './io.ts'

/** Prints one line for what the user can fix, and a stack only for a bug of ours. Returns the exit code. */
export function reportError(error: unknown, io: Io, spec?: CommandSpec): number {
  if (error instanceof Invalid) {
    for (const problem of error.problems) io.err(`${printable(formatProblem(problem))}\n`)
    return exitCodes.invalid
  }
  if (error instanceof Declined) {
    if (error instanceof NotPermitted) io.onNotPermitted?.()
    io.err(`postern: ${printable(error.message)}\n`)
    return exitCodes.no
  }
  if (error instanceof Fault) {
    const why = error.cause instanceof Error ? error.cause.message : ''
    const reason = `${error.message}${error.message.includes(why) ? '' : `: ${why}`}`
    io.err(`postern: ${printable(reason)}\n`)
    // Supervisors know the 1 of `serve`, and a command without a store has no question to ask it.
    const asksStores = spec?.exitCodes[exitCodes.unavailable] !== undefined
    return asksStores ? exitCodes.unavailable : exitCodes.no
  }
  io.err(`${error instanceof Error ? error.stack : String(error)}\n`)
  return exitCodes.bug
}
