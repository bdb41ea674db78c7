import type { policyGuard } from '../../operations/policy/descriptions.ts'
import { count, formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'

export const policyGuardView: ViewOf<typeof policyGuard, string> = {
  text({ document: { guardrails, notes }, shown = '' }) {
    const broken = guardrails.filter(({ violations }) => violations.length > 0)
    const out = [
      `${count(guardrails.length, 'guardrail')}, ${broken.length === 0 ? 'none' : broken.length} broken\n`,
      formatTable([['policy', shown]], '  '),
      ...guardrails.map(({ text, reason, origin, violations }) => {
        const state = violations.length === 0 ? 'holds ' : 'BROKEN'
        const why = reason === undefined ? '' : `  # ${printable(reason)}`
        const lines = violations.map(({ message }) => `          ${printable(message)}\n`)
        return `  ${state}  ${origin.file}:${origin.line}: ${printable(text)}${why}\n${lines.join('')}`
      }),
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
}
