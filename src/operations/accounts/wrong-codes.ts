import { maxFailures } from '../../login/second-factor/second-factor.ts'

/** Why one-time codes of an account are off; `undefined`: they are not. */
export function offAfter(failures: number): string | undefined {
  return failures >= maxFailures ? `off after ${maxFailures} wrong codes` : undefined
}
