import { formatUntil } from '../../src/policy/rule/until.ts'
import { formatField } from '../../src/policy/set/csv-line.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import type { PolicyFile } from '../../src/policy/set/policy-set.ts'
import type { PolicyContent } from '../../src/policy/set/revision.ts'

/**
 * Writes a policy as files that `parsePolicySet` reads back to the same revision. Comments, order
 * and the division into files are not kept.
 */
export function formatPolicyFiles({
  model,
  rules,
  inheritances,
  exclusions,
}: PolicyContent): readonly PolicyFile[] {
  const lines = [
    ...(rules.length === 0 ? ['# postern: empty'] : []),
    ...rules.flatMap(({ roleKey, path, method, effect, fields, until }) => [
      ...commentFor(until),
      formatLine([
        'p',
        ...(fields ?? [roleKey, path, method, ...(model.effectColumn ? [effect] : [])]),
      ]),
    ]),
    ...inheritances.flatMap(({ relation = 'g', roleKey, parentKey, domain, until }) => [
      ...commentFor(until),
      formatLine([relation, roleKey, parentKey, ...(domain === undefined ? [] : [domain])]),
    ]),
  ]
  const entries = exclusions.flatMap(({ method, path, reason, until }) => [
    ...commentFor(until),
    `- method: ${JSON.stringify(method)}`,
    `  path: ${JSON.stringify(path)}`,
    `  reason: ${JSON.stringify(reason)}`,
  ])
  return [
    { name: 'model.conf', text: formatModel(model) },
    { name: 'policy.csv', text: `${lines.join('\n')}\n` },
    { name: 'exclusions.yaml', text: `${entries.join('\n')}\n` },
  ]
}

function commentFor(until: number | undefined): readonly string[] {
  return until === undefined ? [] : [`# postern: until ${formatUntil(until)}`]
}

function formatLine(fields: readonly string[]): string {
  return fields.map(formatField).join(', ')
}
