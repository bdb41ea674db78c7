import { formatProblem, type Problem } from '../../kernel/errors.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { policyCheck } from '../../operations/policy/check-descriptions.ts'
import { printable } from '../format.ts'
import type { ReportRule } from '../report/report.ts'
import rules from './finding-rules.json' with { type: 'json' }

type Finding = DocumentOf<typeof policyCheck>['warnings'][number]

/** What each warning of `policy check` means, for readers who see it in another tool. */
export const findingRules: Readonly<Record<Code, ReportRule>> = rules

/** One line for each problem, `file:line:column: error: …`, up to the number that people read. */
export function formatFindings(kind: 'error' | 'warning', problems: readonly Problem[]): string {
  const lines = problems.slice(0, maxShown).map((problem) => {
    const message = `${kind}: ${problem.message}`
    return `${printable(formatProblem({ ...problem, message }))}\n`
  })
  const more = problems.length - maxShown
  return `${lines.join('')}${more > 0 ? `… and ${more} more ${kind}s: --output json lists all\n` : ''}`
}

const maxShown = 100

/** How many warnings have each code, the most frequent first. */
export function countByCode(warnings: readonly Finding[]): readonly (readonly [Code, number])[] {
  const byCode = Map.groupBy(warnings, ({ code }) => code)
  return Array.from(byCode, ([code, some]) => [code, some.length] as const).toSorted(
    ([, one], [, other]) => other - one,
  )
}

type Code = Finding['code']
