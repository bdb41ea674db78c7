import type { DocumentOf } from '../../operations/operation.ts'
import type { policyCheck } from '../../operations/policy/check-descriptions.ts'
import { engineInWords } from '../../operations/policy/engine-cost.ts'
import type { ReviewedLines } from '../../operations/policy/review.ts'
import { count, formatTable, printable } from '../format.ts'
import { invalidRule } from '../report/failure.ts'
import type { Result } from '../report/report.ts'
import { type ReportingOf, reportView } from '../report/write.ts'
import { countByCode, findingRules, formatFindings } from './findings.ts'

type Document = DocumentOf<typeof policyCheck>

const parts: ReportingOf<typeof policyCheck, ReviewedLines> = {
  text: ({ document }) =>
    summarize(document)
      .map((line) => `${line}\n`)
      .join(''),
  before({ document: { errors, warnings } }, _, output) {
    // Annotations have the findings already, and JSON stays quiet for scripts.
    if (output === 'json' || output === 'github') return ''
    const counts = warnings.length > mostCountedByEye ? formatCounts(warnings) : ''
    return formatFindings('error', errors) + formatFindings('warning', warnings) + counts
  },
  report({ document, shown }, { strict }) {
    const { errors, warnings } = document
    const valid = warnings.length > 0 ? 'valid, with warnings' : 'valid'
    return {
      command: 'policy check',
      verdict: errors.length > 0 ? 'not valid' : valid,
      summary: summarize(document),
      failsAt: strict ? 'warning' : 'error',
      rules: { invalid: invalidRule, ...findingRules },
      results: findingResults({ errors, warnings }, shown),
    }
  },
}
export const policyCheckView = reportView(parts)

/** More warnings than a person counts, or reads to the end. */
const mostCountedByEye = 20

function formatCounts(warnings: Document['warnings']): string {
  const rows = countByCode(warnings).map(([code, number]) => {
    return [String(number), code, findingRules[code].summary]
  })
  return `${count(warnings.length, 'warning')} by code:\n${formatTable(rows, '  ')}`
}

/** What the policy holds, and which engine evaluates it; nothing of one that is not valid. */
function summarize(document: Document): readonly string[] {
  const { directory, revision, engine, superusers = [], warnings } = document
  if (engine === undefined) return []
  const facts = [
    count(document.rules ?? 0, 'rule'),
    count(document.roles ?? 0, 'role'),
    count(document.exclusions ?? 0, 'exclusion'),
    count(warnings.length, 'warning'),
  ]
  return [
    `${directory}: valid, ${revision} (${facts.join(', ')})`,
    ...engineInWords(engine),
    ...superusers.map(({ role, inherited, clause }) => {
      const who = inherited ? `${role} and every role that inherits from it` : role
      return printable(`superuser: ${who}, by ${clause} in the matcher`)
    }),
  ]
}

/** Errors and warnings of a review, for the formats that CI systems read. */
export function findingResults(
  { errors = [], warnings }: Pick<Document, 'warnings'> & Partial<Pick<Document, 'errors'>>,
  { lines = [] }: Partial<ReviewedLines> = {},
): readonly Result[] {
  const found = [
    ...errors.map((each) => ({ ...each, rule: 'invalid', level: 'error' as const })),
    ...warnings.map((each) => ({ ...each, rule: each.code, level: 'warning' as const })),
  ]
  return found.map((each, at) => ({ ...each, ...(lines[at] != null && { text: lines[at] }) }))
}
