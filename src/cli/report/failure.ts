import { Invalid } from '../../kernel/errors.ts'
import type { Report, Result } from './report.ts'

/** The report of a command that could not answer, so that a pipeline reads why. */
export function failureReport(command: string, error: unknown): Report {
  return { command, isUnanswered: true, failsAt: 'error', summary: [], ...partsOf(error) }
}

function partsOf(error: unknown): Pick<Report, 'verdict' | 'rules' | 'results'> {
  if (error instanceof Invalid) {
    const results = error.problems.map(
      (problem): Result => ({ ...problem, rule: 'invalid', level: 'error' }),
    )
    return { verdict: 'not valid', rules: { invalid: invalidRule }, results }
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    verdict: 'no answer',
    rules: { unavailable: unavailableRule },
    results: [{ rule: 'unavailable', level: 'error', message }],
  }
}

/** Files that cannot be used. */
export const invalidRule = {
  summary: 'A file is not valid.',
  help: 'The gateway rejects a policy or a configuration with such an error. Fix the line; the message says how.',
}

const unavailableRule = {
  summary: 'The command could not answer.',
  help: 'Nothing was compared or published. Fix the cause that the message names, then run the command again.',
}
