import type { Problem } from '../../errors.ts'
import type { Model } from '../model/model.ts'
import { createCsvParser } from '../set/csv.ts'
import { formatField } from '../set/csv-line.ts'
import { formatModel } from '../set/format.ts'
import type { PolicyFile } from '../set/policy-set.ts'
import { finish } from '../steps.ts'

/** A row of another product's policy table. */
interface ForeignRow {
  readonly ptype: string
  readonly values: readonly string[]
  readonly place: string
}

/** A row that is not imported, and why. */
export interface LeftOut {
  readonly row: ForeignRow
  readonly reason: string
  /** Whether the row denies: without it, callers gain access. */
  readonly denies: boolean
}

/** The files of a policy directory that rows become. */
export interface Imported {
  readonly model: PolicyFile
  readonly table: PolicyFile
  readonly taken: number
  readonly leftOut: readonly LeftOut[]
  /** Deny rows that match fewer paths than they did in Casbin. */
  readonly narrowed: readonly ForeignRow[]
}

/**
 * Turns rows of Casbin's adapters into a model and a table, sorted by role and path. The model is
 * go-admin's; with `anyModel`, inheritance and effects are added if the rows use them. Rows that have
 * no equivalent are listed with the reason.
 */
export function importRows(
  rows: readonly ForeignRow[],
  { anyModel }: { readonly anyModel: boolean },
): Imported {
  const hasEffects =
    anyModel && rows.some(({ ptype, values }) => ptype === 'p' && values.length > 3)
  const model: Model = {
    // go-admin ignores g rows: importing them would give new access.
    inheritance: anyModel && rows.some(({ ptype }) => ptype === 'g'),
    path: { keyMatch: true, keyMatch2: true },
    anyMethod: true,
    effectColumn: hasEffects,
    denyOverrides: hasEffects,
  }
  const problemWith = createRowReader(model)
  const leftOut: LeftOut[] = []
  const narrowed: ForeignRow[] = []
  const lines = new Set<string>()
  for (const row of rows) {
    const line = [row.ptype, ...row.values].map(formatField).join(', ')
    const reason = problemWith(row, line)
    const denies = row.ptype === 'p' && row.values.length > 3 && row.values[3] !== 'allow'
    if (reason === undefined) {
      lines.add(line)
      if (denies && readOtherwise.test(row.values[1] ?? '')) narrowed.push(row)
    } else leftOut.push({ row, reason, denies })
  }

  const isEmpty = ![...lines].some((line) => line.startsWith('p,'))
  const text = [...(isEmpty ? ['# postern: empty'] : []), ...[...lines].sort(), '']
  return {
    model: { name: 'model.conf', text: formatModel(model) },
    table: { name: 'policy.csv', text: text.join('\n') },
    taken: rows.length - leftOut.length,
    leftOut,
    narrowed,
  }
}

/** Texts that Casbin turns into a regular expression that matches more than the text: `.`, `a:b`, `text*`. */
const readOtherwise = /\.|[^/]:|[^/]\*$/

/** Whether a row is one of "RBAC with domains": `p, role, domain, path, method` or `g, role, parent, domain`. */
export function hasDomainField({ ptype, values }: ForeignRow): boolean {
  if (ptype === 'g') return values.length > 2
  const [, domain = '', path = ''] = values
  return ptype === 'p' && values.length > 3 && !domain.startsWith('/') && path.startsWith('/')
}

function createRowReader(model: Model) {
  let problems: Problem[] = []
  const parse = createCsvParser(model, (problem) => problems.push(problem))

  return (row: ForeignRow, text: string): string | undefined => {
    if (hasDomainField(row)) return 'the row has a domain, and rows are imported without domains'
    // One row must stay one line, and each value one column.
    const odd = [row.ptype, ...row.values].find((each) => /["\r\n]|^\s|\s$/.test(each))
    if (odd !== undefined)
      return `${JSON.stringify(odd)} contains double quotes or line breaks, or starts or ends with white space`
    problems = []
    const { rules, inheritances } = finish(parse({ name: row.place, text }))
    if (problems.length > 0) return problems.map(({ message }) => message).join('; ')
    return rules.length + inheritances.length === 1 ? undefined : 'not a policy line'
  }
}
