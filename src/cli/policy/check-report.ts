import type { Problem } from '../../kernel/errors.ts'
import type { Review } from '../../operations/policy/review.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { invalidRule } from '../report/failure.ts'
import type { Report, Result } from '../report/report.ts'
import { findingRules } from './finding-rules.ts'

/** A review of a policy directory, for the formats that CI systems read. */
export function checkReport(
  review: Review,
  { strict, summary }: { readonly strict: boolean; readonly summary: readonly string[] },
): Report {
  const { set, warnings } = review
  return {
    command: 'policy check',
    verdict:
      set === undefined ? 'not valid' : warnings.length > 0 ? 'valid, with warnings' : 'valid',
    summary,
    failsAt: strict ? 'warning' : 'error',
    rules: { invalid: invalidRule, ...findingRules },
    results: reviewResults(review),
  }
}

/** Errors and warnings of a review. */
export function reviewResults({ directory, errors, warnings }: Review): readonly Result[] {
  const textOf = createTextOf([...directory.files, ...directory.tests])
  const result = (problem: Problem, level: 'error' | 'warning', rule: string): Result => {
    const { file, line, column, message } = problem
    const text = textOf(problem)
    return {
      ...{ rule, level, message, file },
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      ...(text !== undefined && { text }),
    }
  }
  return [
    ...errors.map((error) => result(error, 'error', 'invalid')),
    ...warnings.map((warning) => result(warning, 'warning', warning.code)),
  ]
}

/** Looks lines up, splitting each file once. */
function createTextOf(files: readonly PolicyFile[]) {
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  const lines = new Map<string, readonly string[]>()
  return ({ file, line = 0 }: Problem): string | undefined => {
    const known = lines.get(file) ?? (texts.get(file) ?? '').split('\n')
    lines.set(file, known)
    return known[line - 1]?.trim()
  }
}
