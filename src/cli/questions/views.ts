import type { DocumentOf } from '../../operations/operation.ts'
import type {
  policyExplain,
  policyFiles,
  policyGuard,
  policyNames,
} from '../../operations/policy/descriptions.ts'
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

export const policyNamesView: ViewOf<typeof policyNames, string> = {
  text({ document: { roles, operations, notes }, shown = '' }) {
    const rows = operations.map(({ method, path, from }) => [method, path, from.join(', ')])
    const out = [
      `${[count(roles.length, 'role'), count(operations.length, 'operation')].join(', ')}\n`,
      formatTable([['policy', shown]], '  '),
      formatTable([['ROLE'], ...roles.map((roleKey) => [roleKey])], '  '),
      formatTable([['METHOD', 'PATH', 'FROM'], ...rows], '  '),
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
}

export const policyFilesView: ViewOf<typeof policyFiles> = {
  text: ({ document }) => document.files.map(formatFile).join(''),
}

/** As `head` prints several files; a text that lacks its last line break gets one. */
function formatFile({ name, text }: DocumentOf<typeof policyFiles>['files'][number]): string {
  const lines = text.split('\n').map(printable).join('\n')
  return `==> ${printable(name)} <==\n${lines}${lines.endsWith('\n') ? '' : '\n'}\n`
}
