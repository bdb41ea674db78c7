import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Context } from '../context.ts'
import { Refused } from '../declined.ts'
import type { InputOf } from '../operation.ts'
import { readExpectations } from '../policy/review.ts'
import { runTests } from '../policy/run-tests.ts'
import type { PolicySettings } from '../policy-settings.ts'
import type { policyApprove } from './descriptions.ts'
import { tellReplay } from './publishing.ts'
import { type ReviewIo, refuseBroken } from './review.ts'

/**
 * Runs tests and replay on the machine of an approver: what the proposer recorded of them, no signature
 * covers. Tells the results, also that there is nothing to run. Refuses a policy that fails or breaks a
 * guardrail.
 */
export async function checkAgain(
  set: PolicySet,
  input: Pick<InputOf<typeof policyApprove.input>, 'replay' | 'allow-failed-tests'>,
  { settings, context, tell }: ReviewIo,
): Promise<void> {
  refuseBroken(set, { settings, tell })
  const { directory } = settings
  const { admission, note: about } = settings.admission()
  const expectations = await readExpectations(directory, context)
  const tests =
    expectations.length === 0 ? undefined : runTests({ set, expectations }, admission, context)
  if (tests !== undefined) tell({ tests, directory, about })
  else if (expectations.length === 0) tell({ note: `tests not run: ${directory} has none` })
  const log = input.replay ?? recordedDecisions(settings, context)
  if (log === undefined) tell({ note: 'replay not run: name a decision log with --replay FILE' })
  else await tellReplay(log, set, { context, tell })
  if ((tests?.failures.length ?? 0) === 0 || input['allow-failed-tests']) return
  tell({
    refusal: `tests of ${directory} fail with this policy: get the tests that go with it, or sign with --allow-failed-tests`,
  })
  throw new Refused({ document: undefined, outcome: 'testsFailed' })
}

/** The log that a gateway on this machine writes. */
function recordedDecisions({ config }: PolicySettings, { cwd }: Context): string | undefined {
  const file = config?.logger.decisions.file
  return file !== undefined && existsSync(resolve(cwd, file)) ? file : undefined
}
