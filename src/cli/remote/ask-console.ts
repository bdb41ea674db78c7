import { Fault } from '../../kernel/errors.ts'
import { type Printed, UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { notAConsole, readRefused, sendInSession } from './api-session.ts'
import type { Gateway } from './gateway.ts'
import { printedType, readPrinted } from './printed.ts'
import type { Answer, Sent } from './send.ts'

/** Longer than a question may take, and the questions before it. */
export const questionMs = 180_000
/** Beyond what the caller asks a change to wait. */
export const changeMs = 120_000

/** What a command printed at the console. Throws when the console did not run it. */
export async function askConsole(gateway: Gateway, sent: Sent, io: Io): Promise<Printed> {
  const answer = await sendInSession(gateway, { ...sent, accept: printedType }, io)
  const printed = answer.type === printedType ? readPrinted(answer.text) : undefined
  return printed ?? failed(answer, () => notAConsole(gateway))
}

/** An answer without what a command printed: the console did not run it. */
function failed(answer: Answer, unknown: () => Fault): never {
  const { status, message } = readRefused(answer)
  if (status === 200 || status === 0) throw unknown()
  if (status === 400) throw new UsageError(message)
  if (status === 404) {
    throw new Fault('gateway', {
      reason:
        'the console does not offer this: changes need console.write, and its version may be another one',
    })
  }
  throw new Fault('gateway', { reason: message })
}
