import { randomUUID } from 'node:crypto'
import type { RefusalKind } from '../kernel/errors.ts'

/** The outcome of an attempt or a logout. */
export type AttemptOutcome = 'logged-in' | 'logged-out' | 'unavailable' | RefusalKind

export interface AttemptOrigin {
  readonly address: string
  readonly userAgent: string
  /** Where someone logged in or out, if not at the gateway. */
  readonly at?: 'console'
}

/** A login attempt or a logout in the login log. */
export interface LoginRecord {
  /** A UUID. Writing a record again under the same id changes nothing. */
  readonly attemptId: string
  /** The name as typed, known or not. */
  readonly username: string
  /** The product family's codes: `2` succeeded, `1` failed. */
  readonly status: '2' | '1'
  readonly message: string
  readonly address: string
  readonly userAgent: string
  readonly at: Date
}

/** How many rows are new, and which records the table will never take. */
export interface WrittenBatch {
  readonly written: number
  readonly refused: readonly RefusedRecord[]
}

/** A record with content that the store rejects, and the store's error code. */
interface RefusedRecord {
  readonly record: LoginRecord
  readonly reason: string
}

/** Writes each attempt once. Throws while the store is unreachable; the caller may retry the batch. */
export type InsertRecords = (records: readonly LoginRecord[]) => Promise<WrittenBatch>

/** More than the column holds, much less than a header can. */
const mostAgentChars = 512

const messages = {
  'logged-in': 'login succeeded',
  'logged-out': 'logout succeeded',
  'wrong-credentials': 'wrong username or password',
  'wrong-captcha': 'wrong captcha',
  'no-such-provider': 'unknown login provider',
  'login-expired': 'login expired or used twice',
  'provider-refused': 'refused by the identity provider',
  'no-account': 'no account for this identity',
  'account-disabled': 'account disabled',
  'no-role': 'no group with a role',
  'otp-needed': 'one-time code missing',
  'wrong-otp': 'wrong one-time code',
  'otp-not-enrolled': 'one-time codes not enrolled',
  'not-permitted': 'role may not log in here',
  'too-many-requests': 'too many attempts',
  'bad-login-request': 'malformed login request',
  unavailable: 'login was unavailable',
} as const satisfies Readonly<Partial<Record<AttemptOutcome, string>>>

/** The outcomes that have a message of their own. */
export type LoginOutcome = keyof typeof messages

export const loginOutcomes = Object.keys(messages) as readonly LoginOutcome[]

/** What rows of the login log say about this outcome: at the gateway, and at the console. */
export function messagesOf(outcome: LoginOutcome): readonly string[] {
  return [messages[outcome], `${messages[outcome]}${atConsole}`]
}

/** The outcome that a row of the login log is about; `undefined` for a row of another program. */
export function outcomeOf(message: string): LoginOutcome | undefined {
  return loginOutcomes.find((outcome) => messagesOf(outcome).includes(message))
}

/** Whether a row of the login log is about the console. */
export function isAtConsole(message: string): boolean {
  return message.endsWith(atConsole)
}

/** What messages of the console end with. */
const atConsole = ' (console)'

export function toRecord(
  { address, userAgent, at: place }: AttemptOrigin,
  username: string,
  outcome: AttemptOutcome,
  at: Date,
): LoginRecord {
  const good = outcome === 'logged-in' || outcome === 'logged-out'
  return {
    attemptId: randomUUID(),
    username,
    status: good ? '2' : '1',
    message: `${isLoginOutcome(outcome) ? messages[outcome] : outcome}${place === undefined ? '' : atConsole}`,
    address,
    userAgent: userAgent.slice(0, mostAgentChars),
    at,
  }
}

function isLoginOutcome(outcome: AttemptOutcome): outcome is LoginOutcome {
  return Object.hasOwn(messages, outcome)
}
