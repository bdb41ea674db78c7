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
  if (io.isTerminal !== true || io.ask === undefined) {
    return decline(
      isDeletion
        ? `stdin or stderr is not a terminal: to delete user ${subject}, run again with --yes`
        : 'stdin or stderr is not a terminal: review the diff above, then run again with --yes',
    )
  }
  const question = isDeletion ? `Delete user ${subject}?` : `Publish ${subject} to every replica?`
  const answer = await io.ask(printable(`${question} Type yes: `))
  if (/^y(?:es)?$/i.test(answer.trim())) return
  decline(isDeletion ? `user ${subject} is not deleted` : 'not published')
}

const reviewMs = 180_000
