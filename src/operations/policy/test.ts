import type { RunOf } from '../operation.ts'
import { policySettings } from '../policy-settings.ts'
import type { policyTest } from './check-descriptions.ts'
import { dated } from './dated.ts'
import { linesOf, type ReviewedLines, reviewVersion } from './review.ts'
import { runTests, type TestedCase, testedCase, testNotes, testsDocument } from './run-tests.ts'
import { readSurroundings } from './surroundings.ts'

/** What reports show besides. */
export interface TestExtras extends ReviewedLines {
  readonly cases: readonly TestedCase[]
}

/** Runs the tests of a policy directory against it, with the code that decides in the gateway. */
export const run: RunOf<typeof policyTest, TestExtras> = async (input, context) => {
  const settings = policySettings(context.configFile, context)
  const { admission, note } = settings.admission()
  const name = input.dir ?? settings.directory
  const review = await reviewVersion(name, { settings, io: context }, () =>
    readSurroundings(settings, { config: context.configFile }, context),
  )
  const report = runTests(review, admission, context)
  if (report === undefined) {
    const document = { ok: false, directory: name, errors: review.errors } as const
    return { document, outcome: 'invalid' }
  }
  const { failures, outcomes, coverage } = report
  const isPassed = failures.length === 0 && outcomes.length > 0
  const ok = isPassed && coverage.percent >= input['min-coverage']
  return {
    document: dated({ ok, ...testsDocument(review, report) }),
    notes: testNotes(report, note),
    outcome: ok ? 'done' : 'testsFailed',
    shown: { ...linesOf(review), cases: outcomes.map(testedCase) },
  }
}
