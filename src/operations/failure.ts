import { Fault, type FaultPart, Invalid, type Problem } from '../kernel/errors.ts'
import { Declined, NotPermitted, Refused } from './declined.ts'
import { InvalidInput, UnusableValue } from './invalid-input.ts'
import type { Outcome } from './operation.ts'

/** Why an operation has no answer, as plain data: it can be sent to another process and thrown there. */
export type Failure =
  | { readonly kind: 'declined' | 'not-permitted'; readonly message: string }
  /** The answer is no, or the input is not valid, as the document says. */
  | { readonly kind: 'refused'; readonly outcome: Refused['outcome']; readonly document?: unknown }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  | { readonly kind: 'unusable-value'; readonly message: string }
  | { readonly kind: 'invalid-input'; readonly field?: string; readonly message: string }
  | { readonly kind: 'fault'; readonly part: FaultPart; readonly message: string }
  /** Ours; the details are for a log. */
  | { readonly kind: 'bug'; readonly message: string; readonly details: string }

export function failureOf(error: unknown): Failure {
  if (error instanceof Invalid) return { kind: 'invalid', problems: error.problems }
  if (error instanceof Refused) {
    const { outcome, document } = error
    return { kind: 'refused', outcome, ...(document !== undefined && { document }) }
  }
  if (error instanceof Declined) {
    const kind = error instanceof NotPermitted ? 'not-permitted' : 'declined'
    return { kind, message: error.message }
  }
  if (error instanceof Fault) {
    const why = error.cause instanceof Error ? error.cause.message : ''
    const message = `${error.message}${error.message.includes(why) ? '' : `: ${why}`}`
    return { kind: 'fault', part: error.part, message }
  }
  if (error instanceof UnusableValue) return { kind: 'unusable-value', message: error.message }
  if (error instanceof InvalidInput) {
    const { field, message } = error
    return { kind: 'invalid-input', ...(field !== undefined && { field }), message }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'bug', message, details: (error instanceof Error && error.stack) || message }
}

/** The error that `failureOf` read, without its cause. */
export function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case 'declined':
      return new Declined(failure.message)
    case 'not-permitted':
      return new NotPermitted(failure.message)
    case 'refused':
      return new Refused({ outcome: failure.outcome, document: failure.document })
    case 'invalid':
      return new Invalid(failure.problems)
    case 'unusable-value':
      return new UnusableValue(failure.message)
    case 'invalid-input':
      return new InvalidInput(failure.field, failure.message)
    case 'fault':
      return new Fault(failure.part, { reason: failure.message })
    case 'bug':
      return new Error(failure.message)
  }
}

/** How an operation without an answer ended. */
export type Ending = Outcome | 'usage' | 'bug'

const endings: Readonly<Record<Exclude<Failure['kind'], 'refused'>, Ending>> = {
  ...{ declined: 'no', 'not-permitted': 'no', invalid: 'invalid', fault: 'unavailable' },
  ...{ 'unusable-value': 'usage', 'invalid-input': 'usage', bug: 'bug' },
}

export function endingOf(failure: Failure): Ending {
  return failure.kind === 'refused' ? failure.outcome : endings[failure.kind]
}

/** What programs read in place of an answer. */
export function documentOf(failure: Failure): unknown {
  if (failure.kind === 'refused') return failure.document
  if (failure.kind === 'invalid') return { ok: false, errors: failure.problems }
  const { kind, message } = failure
  return { ok: false, errors: [{ message, ...(kind === 'not-permitted' && { kind }) }] }
}
