import type { policyNames } from '../../operations/policy/descriptions.ts'
import { count, formatTable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'

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
