import { hasStrings, isRecord, readJson } from '../../kernel/json.ts'
import type { Failure } from '../../operations/failure.ts'
import type { CallAnswer } from '../../operations/offered/answer-call.ts'
import type { Outcome } from '../../operations/operation.ts'

/**
 * Reads all that a console answered, and returns `undefined` for anything else. Documents are not checked: another
 * version, or a program that pretends to be a console, may send one that the command's view cannot show.
 */
export function readAnswer(text: string): CallAnswer | undefined {
  const answered = readJson(text)
  if (!hasStrings(answered, ['told'])) return undefined
  const { answer, review, failure } = answered
  if (answer === undefined && review === undefined && failure === undefined) return undefined
  const isWhole = [answer, review].every(isPart) && (failure === undefined || isFailure(failure))
  return isWhole ? (answered as unknown as CallAnswer) : undefined
}

const outcomes: Readonly<Record<Outcome, true>> = {
  ...{ done: true, no: true, unavailable: true, invalid: true, testsFailed: true },
}

/** An answer or a review, if there is one. */
function isPart(value: unknown): boolean {
  if (value === undefined) return true
  if (!isRecord(value)) return false
  const { outcome = 'done', notes = [] } = value
  const isTexts = Array.isArray(notes) && notes.every((note) => typeof note === 'string')
  return isTexts && isOutcome(outcome)
}

function isFailure(value: unknown): boolean {
  if (!hasStrings(value, ['kind'])) return false
  const kind = value['kind'] as Failure['kind']
  return Object.hasOwn(checks, kind) && checks[kind]?.(value) === true
}

type Check = (failure: Readonly<Record<string, unknown>>) => boolean

const hasMessage: Check = (failure) => hasStrings(failure, ['message'])

/** A console does not send its bugs. */
const checks: Readonly<Partial<Record<Failure['kind'], Check>>> = {
  ...{ declined: hasMessage, 'not-permitted': hasMessage, 'unusable-value': hasMessage },
  'invalid-input': (failure) => hasStrings({ field: '', ...failure }, ['message', 'field']),
  fault: (failure) => hasStrings(failure, ['message', 'part']),
  refused: ({ outcome }) => isOutcome(outcome),
  invalid: ({ problems }) =>
    Array.isArray(problems) && problems.every((each) => hasStrings(each, ['message'])),
}

function isOutcome(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(outcomes, value)
}

/**
 * Commands print line ends and no other control characters; a console could be someone else's program
 * that sends codes to the terminal. CSV ends its lines with CR and LF.
 */
export function harmless(text: string): string {
  return text.replace(/\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => {
    if (found === '\n' || found === '\r\n' || found === '\t') return found
    return `\\u{${found.codePointAt(0)?.toString(16)}}`
  })
}
