import type { auditList } from '../../operations/audit/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'
import { changeInWords } from './change-in-words.ts'

export const auditListView: ViewOf<typeof auditList> = {
  text({ document }) {
    if (document.length === 0) return { out: '', err: 'no changes recorded\n' }
    const rows = document.map(({ at, action, subject, before, after, actor }) => {
      const by = actor.kind === 'operator' ? actor.name : `${actor.name} (${actor.kind})`
      return [at, by, actor.origin, action, subject, changeInWords(before, after)]
    })
    return formatTable([['AT', 'BY', 'FROM', 'ACTION', 'SUBJECT', 'CHANGE'], ...rows])
  },
}
