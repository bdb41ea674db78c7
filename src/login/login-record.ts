import { randomUUID } from 'node:crypto'
import type { RefusalKind } from '../errors.ts'

/** How an attempt, or a logout, ended. */
export type AttemptOutcome = 'logged-in' | 'logged-out' | 'unavailable' | RefusalKind

/** Where an attempt comes from. */
export interface AttemptOrigin {
  readonly address: string
  readonly userAgent: string
}

/** One attempt to log in, or a logout, as the login log keeps it. */
export interface LoginRecord {
  /** A UUID. Writing a record again under the same id changes nothing. */
  readonly attemptId: string
  /** The name as it was typed, known or not. */
  readonly username: string
  /** The product family's marks: `2` went well, `1` did not. */
  readonly status: '2' | '1'
  readonly message: string
  readonly address: string
  readonly userAgent: string
  readonly at: Date
}

/** What became of a batch: how many rows are new, and which records are none and never will be. */
export interface WrittenBatch {
  readonly written: number
  readonly refused: readonly RefusedRecord[]
}

/** A record that the store refused for what it says, and the store's code for that. */
interface RefusedRecord {
  readonly record: LoginRecord
  readonly reason: string
}

/** Writes each attempt once. Throws when the store is away: then the same batch may come again. */
export type InsertRecords = (records: readonly LoginRecord[]) => Promise<WrittenBatch>

/** More than the column holds, and much less than a header can. */
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

/** The record of an attempt that ended now, under an id of its own. */
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
