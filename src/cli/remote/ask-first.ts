import { decline } from '../../operations/declined.ts'
import { isConfirmed } from '../confirm.ts'
import type { Io } from '../io.ts'
import { confirmPublication } from '../publish/asking.ts'
import { deletionWords } from '../views/user-views.ts'
import { questionMs } from './api-session.ts'
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
  const shown = await ask({ method: 'GET', path, accept: printedType, timeoutMs: questionMs })
  const printed = readPrinted(shown.text)
  if (printed !== undefined) io.err(`${printed.err}${printed.out}`)
  if (isDeletion) {
    const { question, unasked, declined } = deletionWords(subject, `user ${subject}`)
    if (!(await isConfirmed(question, unasked, io))) decline(declined)
  } else await askToPublish(subject, io)
}

/** Asks whether to publish what was shown. Declines unless the answer is yes. */
export async function askToPublish(subject: string, io: Io): Promise<void> {
  const { question, unasked, declined } = confirmPublication(subject)
  if (!(await isConfirmed(question, unasked, io))) decline(declined)
}
