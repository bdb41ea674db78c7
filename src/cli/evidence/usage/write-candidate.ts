import { basename, join } from 'node:path'
import { type Candidate, candidateWithout } from '../../../answers/usage/candidate.ts'
import type { Problem } from '../../../kernel/errors.ts'
import { decline } from '../../../operations/declined.ts'
import { createPolicyDirectory, readPolicyDirectory } from '../../../operations/policy/directory.ts'
import { isCommit, readCommit } from '../../../operations/policy/git-directory.ts'
import { type Review, reviewDirectory } from '../../../operations/policy/review.ts'
import { runTests } from '../../../operations/policy/run-tests.ts'
import { isPublished } from '../../../operations/policy/versions.ts'
import { readBase, writeBase } from '../../../operations/publish/base.ts'
import { describeFailure } from '../../../policy/expectations/test-suite.ts'
import type { PolicyFile } from '../../../policy/set/policy-set.ts'
import { count, printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import { formatFindings } from '../../policy/findings.ts'
import { observedInWords } from './observed-words.ts'
import type { UnusedReport } from './unused-text.ts'

/** A candidate that was written, and the tests that it fails although the policy passes them. */
interface WrittenCandidate extends Candidate {
  readonly directory: string
  readonly tests: number
  readonly failures: readonly string[]
  /** Errors in the files of the tests, which were copied as they are. */
  readonly errors: readonly Problem[]
}

/** Writes the policy without what was not used into a new directory, with its tests. */
export async function writeCandidate(
  report: UnusedReport,
  { directory, force }: { readonly directory: string; readonly force: boolean },
  io: Io,
): Promise<WrittenCandidate> {
  const { asked, answer, observation } = report
  if (!observation.isComplete && !force) {
    const { uncounted } = observation
    const why =
      uncounted > 0
        ? `${count(uncounted, 'decision')} could not be counted by rule`
        : `${observedInWords(observation)}; wait, give fewer --days`
    return decline(`nothing written: ${why}, or add --force`)
  }
  const set = asked.whole
  const isLeft = answer.grants.filter(({ isNew }) => !isNew).length < set.rules.length
  if (!isLeft) return decline('nothing written: no rule was used, so no rule would be left')

  const candidate = candidateWithout(asked.files, set, answer, report.otherRoles === 0)
  const tests = await testsFor(report, io)
  const files = [
    ...candidate.files.map(({ name, text }) => ({ name: ownName(name, asked.name), text })),
    ...tests.map(({ name, text }) => ({ name: join('tests', basename(name)), text })),
  ]
  await createPolicyDirectory(directory, io.cwd, files)
  await noteBase(report, directory, io)
  const review = await reviewDirectory(directory, io, async () => ({}))
  return { ...candidate, directory, ...outcomeOf(review, report, io) }
}

/** An attacker who can write to Redis must not choose where this machine writes files. */
function ownName(name: string, policy: string): string {
  const own = basename(name)
  if (own.startsWith('.') || (isPublished(policy) && own !== name)) {
    return decline(`the policy contains a file that is not a policy file: ${JSON.stringify(name)}`)
  }
  return own
}

/** A push of the candidate needs to know which published revision it comes from. */
async function noteBase({ asked }: UnusedReport, directory: string, io: Io): Promise<void> {
  const { name, settings, whole } = asked
  if (settings.config?.redis.url === undefined) return
  const place = { cwd: io.cwd, redis: settings.redis() }
  const base = isPublished(name)
    ? whole.revision
    : isCommit(name)
      ? undefined
      : await readBase({ ...place, directory: name })
  if (base !== undefined) await writeBase({ ...place, directory }, base)
}

/** The tests of the policy; those of `policy.directory` for a published one, which has none. */
async function testsFor({ asked }: UnusedReport, io: Io): Promise<readonly PolicyFile[]> {
  const { name, settings } = asked
  if (isCommit(name)) return (await readCommit(name, () => settings.directory, io)).tests
  if (!isPublished(name)) return (await readPolicyDirectory(name, io)).tests
  const own = settings.directory
  return readPolicyDirectory(own, io).then(
    ({ tests }) => tests,
    () => [],
  )
}

/** What the candidate fails and the policy passes. */
function outcomeOf(review: Review, { asked }: UnusedReport, io: Io) {
  const { admission, whole } = asked
  const before = runTests({ ...review, set: whole }, admission, io)
  const after = runTests(review, admission, io)
  const failed = new Set(before?.failures.map(({ expectation }) => expectation))
  return {
    errors: review.errors,
    tests: after?.outcomes.length ?? 0,
    failures: (after?.failures ?? [])
      .filter(({ expectation }) => !failed.has(expectation))
      .map((outcome) => {
        const { file, line, column } = outcome.expectation.at
        return `${file}:${line}:${column}: ${describeFailure(outcome)}`
      }),
  }
}

export function formatCandidate(written: WrittenCandidate): string {
  const { directory, set, dropped, tests, failures, errors } = written
  const parts = [
    count(dropped.rules, 'rule'),
    count(dropped.inheritances, 'inheritance'),
    count(dropped.exclusions, 'exclusion'),
  ]
  return [
    `wrote ${printable(directory)}, ${set.revision}, without ${parts.join(', ')}\n`,
    formatFindings('error', errors),
    tests === 0 && errors.length === 0 ? 'it has no tests\n' : '',
    failures.length === 0 || tests === 0
      ? ''
      : `${count(failures.length, 'test')} of ${tests} would fail: keep the grant, or remove the test\n`,
    tests > 0 && failures.length === 0 ? `all of ${count(tests, 'test')} pass\n` : '',
    ...failures.slice(0, mostShown).map((failure) => `  ${printable(failure)}\n`),
    failures.length > mostShown ? `  … and ${failures.length - mostShown} more\n` : '',
  ].join('')
}

const mostShown = 100

export function candidateAsJson(written: WrittenCandidate) {
  const { directory, set, dropped, tests, failures, errors } = written
  return { directory, revision: set.revision, dropped, tests, failures, errors }
}
