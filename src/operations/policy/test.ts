import { routeLabel } from '../../admission/route-label.ts'
import { untestedOperations, untestedRoutes } from '../../answers/untested.ts'
import type { Context } from '../context.ts'
import type { RunOf } from '../operation.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import type { policyTest } from './check-descriptions.ts'
import { dated } from './dated.ts'
import { readDocumented } from './documented.ts'
import { linesOf, type Review, type ReviewedLines, reviewVersion } from './review.ts'
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
  const found = input.routes ? await untested(review, { settings, context }) : undefined
  return {
    document: dated({ ok, ...testsDocument(review, report), untested: found?.untested }),
    notes: [...testNotes(report, note), ...(found?.notes ?? [])],
    outcome: ok ? 'done' : 'testsFailed',
    shown: { ...linesOf(review), cases: outcomes.map(testedCase) },
  }
}

/** The routes, and the operations of `policy.openapi`, that no test is about. */
async function untested(
  { set, expectations }: Review,
  { settings, context }: { readonly settings: PolicySettings; readonly context: Context },
) {
  if (set === undefined) return undefined
  const { described, notes } = await readDocumented(settings, context)
  const { admission } = settings.admission()
  const about = { set, admission, expectations, now: context.now() }
  const operations = untestedOperations(described, expectations)
  return {
    untested: {
      routes: untestedRoutes(about).map(routeLabel),
      routeCount: admission.routes.length,
      operations: operations.map(({ method, path, operationId, origin: { file, line } }) => {
        return { method, path, operationId, origin: { file, line } }
      }),
      operationCount: described.length,
    },
    notes,
  }
}
