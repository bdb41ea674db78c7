import type { policyBlame } from '../../operations/policy/descriptions.ts'
import { formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'

export const policyBlameView: ViewOf<typeof policyBlame, string> = {
  text({ document, shown = '' }) {
    const { roleKey, method, path, allowed, changes, before, isComplete, notes } = document
    const words = allowed ? ['allowed', 'may'] : ['denied', 'may not']
    const blocks = changes.toReversed().map((change, position) => {
      const { at, cause, line, revision, commit, author, message, signers } = change
      const isOldest = position === 0
      const longer = isOldest && !isComplete ? ' or longer' : ''
      const since = at === null ? 'in files that are not committed' : `since ${at}${longer}`
      const what = isOldest
        ? `${words[0]}: ${roleKey} ${words[1]} ${method} ${path}`
        : 'by another line'
      const said = commit === undefined ? `${author} (unverified)` : author
      const rows = [
        ['line', line],
        ['revision', revision],
        ['commit', commit],
        ['author', author && (signers.length > 0 ? `${signers.join(', ')} (signed)` : said)],
        ['message', message],
        ['before', isOldest ? before?.line : undefined],
        ['policy', position === changes.length - 1 ? shown : undefined],
      ]
      const known = rows.flatMap(([name = '', value]) =>
        value === undefined ? [] : [[name, value]],
      )
      const title = `${what} ${since}${cause === 'expired' ? ', when a line expired' : ''}`
      return `${printable(title)}\n${formatTable(known, '  ')}`
    })
    return { out: blocks.join(''), err: noteLines(notes) }
  },
}
