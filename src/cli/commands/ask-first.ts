import type { Context } from '../../operations/context.ts'
import { decline } from '../../operations/declined.ts'
import type { Inputs } from '../../operations/input.ts'
import type { Answer, Reviewed } from '../../operations/operation.ts'
import type { Printout, Terminal } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonPieces } from '../format.ts'
import type { Prompt } from '../view.ts'

interface Asked<Input, Plan> {
  readonly input: Input
  readonly prompt: Prompt<Input, Plan>
  readonly given: Inputs
  readonly output: string
}

/**
 * Shows what a change would do, asks for yes unless `--yes` is given, and makes it. With `--dry-run`,
 * prints what it would do instead. Declines unless the answer is yes.
 */
export async function askFirst<Input, Plan, Document, Shown>(
  review: (input: Input, context: Context) => Promise<Reviewed<Plan, Document, Shown>>,
  { input, prompt, given, output }: Asked<Input, Plan>,
  context: Context,
  terminal: Terminal,
): Promise<Answer<Document, Shown> | Omit<Printout, 'out'>> {
  const isAsked = given['yes'] !== true && terminal.isTerminal === true
  const reviewed = await review(input, { ...context, isAsked })
  const { document: plan, outcome = 'done', refusal, isSure, commit } = reviewed
  context.err(prompt.shown?.(reviewed, input) ?? '')
  if (refusal !== undefined) return decline(refusal)
  if (given['dry-run'] === true) {
    const { out, err } = prompt.dryRun?.(reviewed, input) ?? { out: '', err: '' }
    const pieces = output === 'json' ? jsonPieces(plan) : [out]
    // Obstacles come before what would happen.
    if (output !== 'json') context.err(err)
    for (const piece of pieces) terminal.out(piece)
    return { code: exitCodes[outcome], err: '' }
  }
  if (prompt.talk !== undefined) {
    await prompt.talk(reviewed, input, { output, terminal, err: context.err })
    return commit()
  }
  if (given['yes'] === true || isSure) return commit()
  const { question, unasked, declined } = prompt.words(plan, input)
  if (await isConfirmed(question, unasked, terminal)) return commit()
  return declined === undefined ? { code: exitCodes.no, err: '' } : decline(declined)
}
