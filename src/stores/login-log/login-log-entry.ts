import { isRecord, readJson } from '../../kernel/json.ts'
import type { LoginRecord } from '../../login/login-record.ts'

/** One entry of the stream; without a record when Postern did not write it. */
export interface StreamEntry {
  readonly id: string
  readonly fields: readonly string[]
  readonly record: LoginRecord | undefined
}

/** The one field of an entry. */
export const recordField = 'record'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads what XREADGROUP gives for one entry: its id and its fields, `null` when it was deleted. */
export function toEntry([id, fields]: readonly [string, readonly string[] | null]): StreamEntry {
  const [name, text = ''] = fields ?? []
  const record = name === recordField ? parseRecord(text) : undefined
  return { id, fields: fields ?? [], record }
}

function parseRecord(text: string): LoginRecord | undefined {
  const value = readJson(text)
  if (!isRecord(value)) return undefined
  const { attemptId, username, status, message, address, userAgent, at } = value
  const time = new Date(typeof at === 'string' ? at : Number.NaN)
  if (typeof attemptId !== 'string' || !uuid.test(attemptId)) return undefined
  if (typeof username !== 'string' || typeof message !== 'string') return undefined
  if (typeof address !== 'string' || typeof userAgent !== 'string') return undefined
  if ((status !== '1' && status !== '2') || Number.isNaN(time.getTime())) return undefined
  return { attemptId, username, status, message, address, userAgent, at: time }
}
