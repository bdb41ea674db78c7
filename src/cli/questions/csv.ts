import type { DocumentOf } from '../../operations/operation.ts'
import type { policyWho } from '../../operations/policy/descriptions.ts'
import { placeOf } from '../../operations/policy/rule-line.ts'
import { printable } from '../format.ts'

/** RFC 4180: a line for each row, the titles first. */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

/**
 * A spreadsheet evaluates a cell that begins like a formula, and a role key may be `=cmd()`. The
 * apostrophe makes it text. The wide forms are formulas in some languages.
 */
const formula = /^\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20]/

function field(text: string): string {
  const shown = printable(text)
  const safe = formula.test(shown) ? `'${shown}` : shown
  return /[",\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const ruleTitles = ['effect', 'method', 'path', 'line', 'inherited from', 'until']

/** The columns of a rule where no rule decides: every row has as many as the titles (RFC 4180). */
export const withoutRule = ruleTitles.map(() => '')

type HeldRule = Pick<DocumentOf<typeof policyWho>['roles'][number], 'rule' | 'via' | 'until'>

/** The columns of a rule that applies to a role. */
export function ruleColumns({ rule, via, until = '' }: HeldRule): readonly string[] {
  return [rule.effect, rule.method, rule.path, placeOf(rule.origin), via.join(' < '), until]
}
