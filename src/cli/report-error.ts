import { Fault, formatProblem, Invalid } from '../errors.ts'
import { printable } from './format.ts'
import type { Io } from './io.ts'

/**
 * Prints one line for what the user can fix, and a stack only for a bug of ours. Returns the exit code:
 * 3 for invalid files, 1 for the rest.
 */
export function reportError(error: unknown, io: Io): number {
  if (error instanceof Invalid) {
    for (const problem of error.problems) io.err(`${printable(formatProblem(problem))}\n`)
    return 3
  }
  if (error instanceof Fault) {
    const why = error.cause instanceof Error ? error.cause.message : ''
    const reason = `${error.message}${error.message.includes(why) ? '' : `: ${why}`}`
    io.err(`postern: ${printable(reason)}\n`)
    return 1
  }
  io.err(`${error instanceof Error ? error.stack : String(error)}\n`)
  return 1
}
