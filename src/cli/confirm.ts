import { decline } from '../operations/declined.ts'
import { printable } from './format.ts'
import type { Io } from './io.ts'

/** Asks a person for yes or no. Declines with `unasked` where stdin or stderr is not a terminal. */
export async function isConfirmed(
  question: string,
  unasked: string,
  io: Pick<Io, 'isTerminal' | 'ask'>,
): Promise<boolean> {
  if (io.isTerminal !== true || io.ask === undefined) return decline(unasked)
  const answer = await io.ask(printable(`${question} Type yes: `))
  return /^y(?:es)?$/i.test(answer.trim())
}

/** Before a change of the live policy, its shadow, or a signature. */
export const reviewFirst = (what: string) =>
  `stdin or stderr is not a terminal: review the ${what} above, then run again with --yes`
