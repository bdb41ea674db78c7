import type { policyExplain } from '../../operations/policy/descriptions.ts'
import type { ExplainExtras } from '../../operations/policy/explanation.ts'
import { lineOf } from '../../operations/policy/rule-line.ts'
import { count, formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'

export const policyExplainView: ViewOf<typeof policyExplain, ExplainExtras> = {
  text({ document, shown = { name: '', rows: [] } }) {
    const { allowed, refused, method, path, nearMisses, notes } = document
    const title =
      refused === undefined
        ? `${allowed ? 'allowed' : 'denied'}: ${shown.name} ${allowed ? 'may' : 'may not'} ${method} ${path}`
        : `refused: ${refused}`
    const misses = nearMisses.map(({ differs, rule }) => [lineOf(rule), missWords[differs]])
    const out = [
      `${printable(title)}\n`,
      formatTable(shown.rows, '  '),
      misses.length === 0
        ? ''
        : `${count(misses.length, 'rule nearly matches', 'rules nearly match')}:\n`,
      formatTable(misses, '  '),
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
}

const missWords = {
  method: 'differs in method',
  role: 'differs in role',
  domain: 'counts in another domain',
  inheritance: 'inherited in another domain only',
  expired: 'has expired',
} as const
