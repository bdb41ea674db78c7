import type { DocumentOf } from '../../operations/operation.ts'
import type { policyImport } from '../../operations/policy/go-admin-descriptions.ts'
import { count, printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

type Imported = DocumentOf<typeof policyImport>

export const policyImportView: ViewOf<typeof policyImport, boolean> = {
  text({ document, shown: hasDomain }, { update }) {
    const { directory, revision, rows, taken } = document
    const imported = `imported ${taken} of ${count(rows, 'row')}${changesInWords(document)}`
    const err = hasDomain && !update ? domainNote : ''
    return { out: `${directory}: ${revision}, ${imported}\n`, err }
  },
}

const domainNote =
  'note: the rows have a domain: compare model.conf with the model of the other product, and set policy.domain to where a request has its domain\n'

function changesInWords({ added, removed, keptTables = [] }: Imported): string {
  if (added === undefined || removed === undefined) return ''
  const kept = keptTables.length === 0 ? '' : `; kept the rules in ${keptTables.join(', ')}`
  return printable(`: ${count(added, 'line')} added, ${removed} removed${kept}`)
}
