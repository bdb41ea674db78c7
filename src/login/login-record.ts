import { randomUUID } from 'node:crypto'
import type { RefusalKind } from '../errors.ts'

/** The outcome of an attempt or a logout. */
export type AttemptOutcome = 'logged-in' | 'logged-out' | 'unavailable' | RefusalKind

export interface AttemptOrigin {
  readonly address: string
  readonly userAgent: string
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

const messages: Readonly<Partial<Record<AttemptOutcome, string>>> = {
  'logged-in': 'login succeeded',
  'logged-out': 'logout succeeded',
  unavailable: 'login was unavailable',
  'bad-login-request': 'malformed login request',
  'wrong-captcha': 'wrong captcha',
  'wrong-credentials': 'wrong username or password',
  'too-many-requests': 'too many attempts',
}

export function toRecord(
  { address, userAgent }: AttemptOrigin,
  username: string,
  outcome: AttemptOutcome,
  at: Date,
): LoginRecord {
  const good = outcome === 'logged-in' || outcome === 'logged-out'
  return {
    attemptId: randomUUID(),
    username,
    status: good ? '2' : '1',
    message: messages[outcome] ?? outcome,
    address,
    userAgent: userAgent.slice(0, mostAgentChars),
    at,
  }
}
