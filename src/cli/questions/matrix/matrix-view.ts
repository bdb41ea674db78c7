import { InvalidInput } from '../../../operations/invalid-input.ts'
import type { policyMatrix } from '../../../operations/policy/descriptions.ts'
import { json } from '../../format.ts'
import { noteLines, type ViewOf } from '../../view.ts'
import { formatCsv } from '../csv.ts'
import { formatHtml } from './html.ts'
import { formatMarkdown } from './markdown.ts'
import { cellsOf, type Sheet } from './sheet.ts'
import { formatText } from './text.ts'

type View = ViewOf<typeof policyMatrix, string>

/** With `hasNotes`, the text has the notes inside. */
function shownBy(format: (sheet: Sheet) => string, hasNotes = false): View['text'] {
  return ({ document, shown = '' }, { compact }) => {
    if (compact) throw new InvalidInput(undefined, '--compact is for --output json')
    const out = format({ ...document, policy: shown })
    return { out, err: hasNotes ? '' : noteLines(document.notes) }
  }
}

export const policyMatrixView: View = {
  json: ({ document }) => json(document),
  text: shownBy(formatText),
  csv: shownBy(formatLines),
  markdown: shownBy(formatMarkdown, true),
  html: shownBy(formatHtml, true),
}

/** A line for each operation, and a column for each role. */
function formatLines(sheet: Sheet): string {
  const { roles, operations } = sheet
  const titles = ['method', 'path', 'access', 'served by', 'exact', ...roles]
  const rows = operations.map((operation) => [
    operation.method,
    operation.path,
    [...operation.access, ...(operation.isFixedResponse ? ['fixed-response'] : [])].join(' '),
    operation.servedBy.join(' '),
    operation.isExact ? 'yes' : 'no',
    ...cellsOf(operation, sheet),
  ])
  return formatCsv([titles, ...rows])
}
