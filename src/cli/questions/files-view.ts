import type { DocumentOf } from '../../operations/operation.ts'
import type { policyFiles } from '../../operations/policy/descriptions.ts'
import { printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const policyFilesView: ViewOf<typeof policyFiles> = {
  text: ({ document }) => document.files.map(formatFile).join(''),
}

/** As `head` prints several files; a text that lacks its last line break gets one. */
function formatFile({ name, text }: DocumentOf<typeof policyFiles>['files'][number]): string {
  const lines = text.split('\n').map(printable).join('\n')
  return `==> ${printable(name)} <==\n${lines}${lines.endsWith('\n') ? '' : '\n'}\n`
}
