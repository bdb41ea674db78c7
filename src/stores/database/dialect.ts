import {
  type AliasedExpression,
  type AliasNode,
  type Expression,
  type OperationNode,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import type { Fragments, RowType } from './backend.ts'

/**
 * What databases spell differently in the queries of the stores. The compiler of a backend asks for its
 * own text, so that no query asks where it runs.
 */
function fragment<Result>(choose: (from: Fragments) => RawBuilder<Result>): RawBuilder<Result> {
  const node = { ...sql``.toOperationNode(), choose }
  return sql<Result>`${{ toOperationNode: () => node }}`
}

export const clock = fragment(({ clock: own }) => own)
export const now = fragment(({ now: own }) => own)
export const nowMs = fragment(({ nowMs: own }) => own)

export const epochMs: Fragments['epochMs'] = (...of) => fragment((from) => from.epochMs(...of))
export const timeAt: Fragments['timeAt'] = (...of) => fragment((from) => from.timeAt(...of))
export const before: Fragments['before'] = (...of) => fragment((from) => from.before(...of))
export const dayText: Fragments['dayText'] = (...of) => fragment((from) => from.dayText(...of))
export const listOf: Fragments['listOf'] = (...of) => fragment((from) => from.listOf(...of))
export const idsOf: Fragments['idsOf'] = (...of) => fragment((from) => from.idsOf(...of))
export const rowDigest: Fragments['rowDigest'] = (...of) =>
  fragment((from) => from.rowDigest(...of))

/** A time of any type as RFC 3339 in UTC; as text, so that it is the same from every database. */
export function utcText(column: string): RawBuilder<string | null> {
  return fragment((from) => from.timeText(sql.ref(column)))
}

/** Whether a text column of go-admin has exactly this value, or that of the other column. */
export function same(column: string, value: string | Expression<unknown>): RawBuilder<SqlBool> {
  return fragment((from) => from.same(sql.ref(column), value))
}

export function lockUntilCommit(name: string, detail = ''): RawBuilder<unknown> {
  return fragment((from) => from.lockUntilCommit(name, detail))
}

interface Values extends Record<RowType, unknown> {
  readonly text: string
  readonly uuid: string
  readonly bigint: string
  readonly int: number
  readonly float8: number
  readonly timestamptz: Date
}

/** Rows as a table with these columns, for `selectFrom`. */
export function tableOf<
  const Name extends string,
  const Columns extends Readonly<Record<string, RowType>>,
>(
  name: Name,
  columns: Columns,
  rows: readonly Readonly<Record<keyof Columns, unknown>>[],
): AliasedExpression<{ readonly [Of in keyof Columns]: Values[Columns[Of]] }, Name> {
  const expression = fragment<never>((from) => from.tableOf(name, columns, rows))
  // The alias is part of the text: PostgreSQL names the columns and their types there.
  const toOperationNode = () => expression.toOperationNode() as OperationNode as AliasNode
  return { expression, alias: name, toOperationNode }
}

/** A limit for an offset alone, which MySQL lacks. */
export const allRows = sql<number>`9223372036854775807`

/**
 * How a table marks a row as deleted: go-admin up to v2.4 leaves `deleted_at` NULL in a live row,
 * later versions write the number 0. Testing for the wrong one locks out every user, so the column's
 * type decides.
 */
export type SoftDelete = 'null-is-live' | 'zero-is-live'

/** The condition under which a row of this table, or of its alias, is live. */
export function live(table: string, softDelete: SoftDelete): RawBuilder<SqlBool> {
  const column = sql.ref(`${table}.deleted_at`)
  return softDelete === 'null-is-live' ? sql`${column} is null` : sql`${column} = 0`
}

/** What a new, live row has in `deleted_at`. */
export function liveMark(softDelete: SoftDelete): 0 | null {
  return softDelete === 'null-is-live' ? null : 0
}

/** What go-admin writes in `deleted_at` to delete a row: the time, or its milliseconds. */
export function deletedMark(softDelete: SoftDelete): RawBuilder<unknown> {
  return softDelete === 'null-is-live' ? clock : nowMs
}

/** Whether PostgreSQL can hold this text as it is: no NUL character, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * The nearest text that a `varchar(most)` holds: NUL characters left out, halves of surrogate
 * pairs replaced, cut after `most` code points, which is how PostgreSQL counts.
 */
export function toStorable(text: string, most: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '')
  if (clean.length <= most) return clean
  // A code point is at most two units: nothing beyond twice the length is needed.
  return [...clean.slice(0, most * 2)].slice(0, most).join('')
}
