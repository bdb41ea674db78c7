import { decline } from '../declined.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import type { Chosen } from './choose.ts'
import { printedType, readPrinted } from './printed.ts'
import type { Answer, Sent } from './send.ts'

/**
 * Shows what a change is about, and asks, as the command does without `--yes`. Declines unless the
 * answer is yes.
 */
export async function askFirst(
  { operation, input }: Chosen,
  ask: (sent: Sent) => Promise<Answer>,
  io: Io,
): Promise<void> {
  const isDeletion = operation.command === 'user delete'
  const subject = String(input[isDeletion ? 'name' : 'revision'])
  const about = new URLSearchParams(
    isDeletion ? { name: subject, output: 'text' } : { from: 'live', to: subject, output: 'text' },
  )
  const path = `${isDeletion ? 'user/show' : 'policy/diff'}?${about}`
  const shown = await ask({ method: 'GET', path, accept: printedType, timeoutMs: reviewMs })
  const printed = readPrinted(shown.text)
  if (printed !== undefined) io.err(`${printed.err}${printed.out}`)
  if (!isDeletion) return confirmPublication(subject, io)
  await confirm(`Delete user ${subject}?`, io, {
    unasked: `stdin or stderr is not a terminal: to delete user ${subject}, run again with --yes`,
    refused: `user ${subject} is not deleted`,
  })
}

/** Asks whether to publish what was shown. Declines unless the answer is yes. */
export function confirmPublication(subject: string, io: Io): Promise<void> {
  return confirm(`Publish ${subject} to every replica?`, io, {
    unasked: 'stdin or stderr is not a terminal: review the diff above, then run again with --yes',
    refused: 'not published',
  })
}

async function confirm(
  question: string,
  io: Io,
  { unasked, refused }: { readonly unasked: string; readonly refused: string },
): Promise<void> {
  if (io.isTerminal !== true || io.ask === undefined) return decline(unasked)
  const answer = await io.ask(printable(`${question} Type yes: `))
  if (!/^y(?:es)?$/i.test(answer.trim())) decline(refused)
}

const reviewMs = 180_000
