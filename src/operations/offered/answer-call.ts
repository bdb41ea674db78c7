import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import { type Failure, failureOf } from '../failure.ts'
import { type Inputs, inputOf } from '../input.ts'
import type { Answer, Reviewed } from '../operation.ts'
import type { Call } from './offered.ts'

/**
 * All that a call answers, as data: a caller on another machine shows it as it would show what the operation answers
 * there.
 */
export interface CallAnswer {
  /** What was told before the answer, for people. */
  readonly told: string
  /** What a person reads of a change before it is made. */
  readonly review?: Pick<Reviewed<unknown, unknown>, 'document' | 'shown' | 'notes' | 'isSure'> &
    Pick<Answer<unknown>, 'outcome'>
  readonly answer?: Answer<unknown>
  /** Why there is no answer; of a review, why there would be none. */
  readonly failure?: Failure
}

/** The media type of that as JSON. */
export const answeredType = 'application/vnd.postern.answered+json'

/** Does what the call says, and nothing more: a review changes nothing. */
export async function answerCall(
  { kind, operation }: Call,
  given: Inputs,
  caller: Omit<Context, 'err'>,
): Promise<CallAnswer> {
  const texts: string[] = []
  const context: Context = { ...caller, err: (text) => void texts.push(text) }
  let review: CallAnswer['review']
  try {
    const { run, review: look } = await operation.load()
    const input = inputOf(operation.input, given)
    if (look === undefined) {
      const answer = await run(input, context)
      return { told: texts.join(''), answer }
    }
    const reviewed = await look(input, { ...context, isAsked: kind === 'review' })
    const { refusal, commit, ...plan } = reviewed
    review = plan
    if (refusal !== undefined) decline(refusal)
    if (kind === 'review') return { told: texts.join(''), review }
    const answer = await commit()
    return { told: texts.join(''), review, answer }
  } catch (error) {
    return { told: texts.join(''), ...(review && { review }), failure: failureOf(error) }
  }
}
