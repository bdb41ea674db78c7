import type { Failure } from '../../operations/failure.ts'
import type { Answered } from '../../operations/offered/answer-call.ts'
import type { Outcome } from '../../operations/operation.ts'

export const answeredType = 'application/vnd.postern.answered+json'

/**
 * Reads all that a console answered. `undefined`: it is no such answer. What it is about is for its view, which
 * another version or a program that pretends to be a console may not satisfy.
 */
export function readAnswered(text: string): Answered | undefined {
  const answered = objectIn(parseJson(text))
  if (answered === undefined || typeof answered['told'] !== 'string') return undefined
  const { answer, review, failure } = answered
  if (answer === undefined && review === undefined && failure === undefined) return undefined
  const isWhole = [answer, review].every(isPart) && (failure === undefined || isFailure(failure))
  return isWhole ? (answered as unknown as Answered) : undefined
}

const outcomes: Readonly<Record<Outcome, true>> = {
  ...{ done: true, no: true, unavailable: true, invalid: true, testsFailed: true },
}

/** An answer or a review, if there is one. */
function isPart(value: unknown): boolean {
  if (value === undefined) return true
  const { outcome = 'done', notes = [] } = objectIn(value) ?? { outcome: 'none' }
  return isOutcome(outcome) && Array.isArray(notes) && notes.every(isText)
}

function isFailure(value: unknown): boolean {
  const failure = objectIn(value)
  const check = checks[failure?.['kind'] as Failure['kind']]
  return failure !== undefined && check?.(failure) === true
}

type Check = (failure: Readonly<Record<string, unknown>>) => boolean

const hasMessage: Check = ({ message }) => isText(message)

/** A console does not send its bugs. */
const checks: Readonly<Partial<Record<Failure['kind'], Check>>> = {
  declined: hasMessage,
  'not-permitted': hasMessage,
  'unusable-value': hasMessage,
  'invalid-input': ({ message, field = '' }) => isText(message) && isText(field),
  fault: ({ message, part }) => isText(message) && isText(part),
  refused: ({ outcome }) => isOutcome(outcome),
  invalid: ({ problems }) =>
    Array.isArray(problems) && problems.every((each) => isText(objectIn(each)?.['message'])),
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isOutcome(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(outcomes, value)
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
}

/** The value, or `undefined` for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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
