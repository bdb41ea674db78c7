import type { policyHistory } from '../../operations/policy/descriptions.ts'
import { formatTable, json, jsonLine } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { formatPromotion } from './shadow-in-words.ts'

export const policyHistoryView: ViewOf<typeof policyHistory> = {
  text({ document, notes = [] }) {
    const rows = document.map((entry) => {
      const { at, revision, kind, author, signers, publisher, message, evidence } = entry
      const who = signers.length === 0 ? `${author} (unverified)` : `${signers.join(', ')} (signed)`
      const by = publisher === undefined ? '' : `, published by ${publisher}`
      return [at, revision, kind, who + by, message + formatPromotion(evidence)]
    })
    const nothing = rows.length === 0 ? 'nothing is published yet\n' : ''
    const out = rows.length === 0 ? '' : formatTable([titles, ...rows])
    return { out, err: `${nothing}${noteLines(notes)}` }
  },
  json: ({ document, notes = [] }) => ({ out: json(document), err: noteLines(notes) }),
  jsonl: ({ document, notes = [] }) => {
    return { out: document.map(jsonLine).join(''), err: noteLines(notes) }
  },
}

const titles = ['AT', 'REVISION', 'KIND', 'AUTHOR', 'WHY']
