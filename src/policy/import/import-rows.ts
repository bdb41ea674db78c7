import type { Problem } from '../../kernel/errors.ts'
import { hasDomainColumn } from '../model/domain-column.ts'
import { hasDomain, type Model } from '../model/model.ts'
import { createCsvParser } from '../set/csv.ts'
import { formatField } from '../set/csv-line.ts'
import { formatModel } from '../set/format.ts'
import { finish } from '../steps.ts'
import { type ForeignRow, hasDomainField, importedModel } from './import-model.ts'

/** A row that is not imported, and why. */
export interface LeftOut {
  readonly row: ForeignRow
  readonly reason: string
  /** Whether the row denies: without it, callers gain access. */
  readonly denies: boolean
}

/** The files of a policy directory that rows become. */
export type Imported = ReturnType<typeof importRows>

/**
 * Turns rows of Casbin's adapters into a model and a table, sorted by role and path. The model is
 * go-admin's; with `anyModel`, inheritance and effects are added if the rows use them, and with domains
 * if they have them. `model` is that of a directory which gets only the table. Rows that have no
 * equivalent are listed with the reason.
 */
export function importRows(
  rows: readonly ForeignRow[],
  {
    anyModel,
    model = importedModel(rows, { anyModel }),
  }: { readonly anyModel: boolean; readonly model?: Model | undefined },
) {
  const problemWith = createRowReader(model)
  const leftOut: LeftOut[] = []
  const narrowed: ForeignRow[] = []
  const lines = new Set<string>()
  for (const row of rows) {
    const line = [row.ptype, ...row.values].map(formatField).join(', ')
    const reason = problemWith(row, line)
    const pathAt = hasDomainField(row) ? 2 : 1
    const effect = row.ptype === 'p' ? row.values[pathAt + 2] : undefined
    const denies = effect !== undefined && effect !== 'allow'
    if (reason === undefined) {
      lines.add(line)
      if (denies && readOtherwise.test(row.values[pathAt] ?? '')) narrowed.push(row)
    } else leftOut.push({ row, reason, denies })
  }

  const isEmpty = ![...lines].some((line) => line.startsWith('p,'))
  const text = [...(isEmpty ? ['# postern: empty'] : []), ...[...lines].sort(), '']
  return {
    model: { name: 'model.conf', text: formatModel(model) },
    table: { name: 'policy.csv', text: text.join('\n') },
    taken: rows.length - leftOut.length,
    leftOut,
    /** Deny rows that match fewer paths than they did in Casbin. */
    narrowed,
    hasDomain: hasDomain(model),
    /** Rows for the domain `*`, where the model compares it literally. */
    literalDomains: literalDomains(rows, model),
  }
}

/** Another product may let `*` match every domain: such a rule allows and denies less here. */
function literalDomains(rows: readonly ForeignRow[], { domain }: Model): readonly ForeignRow[] {
  if (domain?.rules !== 'equal') return []
  return rows.filter((row) => row.ptype === 'p' && hasDomainField(row) && row.values[1] === '*')
}

/** Texts that Casbin turns into a regular expression that matches more than the text: `.`, `a:b`, `text*`. */
const readOtherwise = /\.|[^/]:|[^/]\*$/

function createRowReader(model: Model) {
  let problems: Problem[] = []
  const parse = createCsvParser(model, (problem) => problems.push(problem))

  return (row: ForeignRow, text: string): string | undefined => {
    const isInDomain = hasDomainField(row)
    if (isInDomain && !hasDomain(model)) return 'the row has a domain, and the model has none'
    if (row.ptype === 'p' && !isInDomain && hasDomainColumn(model)) {
      return 'the row has no domain, but other rows have'
    }
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
