import { formatProblem, Invalid } from '../kernel/errors.ts'

/** The first few problems in full: ten thousand problems still make one line. */
export function failureText(error: unknown): string {
  if (!(error instanceof Invalid)) return error instanceof Error ? error.message : String(error)
  const shown = error.problems.slice(0, 3).map(formatProblem)
  const more = error.problems.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
