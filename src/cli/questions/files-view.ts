import type { policyFiles } from '../../operations/policy/descriptions.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const policyFilesView: ViewOf<typeof policyFiles> = {
  text: ({ document }) => document.files.map(formatFile).join(''),
}

/** As `head` prints several files; a text that lacks its last line break gets one. */
function formatFile({ name, text }: PolicyFile): string {
  const lines = text.split('\n').map(printable).join('\n')
  return `==> ${printable(name)} <==\n${lines}${lines.endsWith('\n') ? '' : '\n'}\n`
}
