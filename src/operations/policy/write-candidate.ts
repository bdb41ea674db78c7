import { basename, join } from 'node:path'
import { candidateWithout } from '../../answers/usage/candidate.ts'
import type { UnusedAnswer } from '../../answers/usage/unused.ts'
import { count } from '../../kernel/count.ts'
import { describeFailure } from '../../policy/expectations/test-suite.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import type { Surroundings } from '../context.ts'
import { decline } from '../declined.ts'
import type { DocumentOf } from '../operation.ts'
import { readBase, writeBase } from '../publish/base.ts'
import { createPolicyDirectory, readPolicyDirectory } from './directory.ts'
import type { policyUnused } from './evidence-descriptions.ts'
import { isCommit, readCommit } from './git-directory.ts'
import { observedInWords } from './observed-words.ts'
import type { PolicyQuery } from './policy-query.ts'
import { type Review, reviewDirectory } from './review.ts'
import { runTests } from './run-tests.ts'
import { isPublished } from './versions.ts'

type Document = DocumentOf<typeof policyUnused>

/** What was not used, by which policy and observation. */
interface Unused extends Pick<Document, 'observed'> {
  readonly query: PolicyQuery
  readonly answer: UnusedAnswer
}

/**
 * Writes the policy without what was not used into a new directory, with its tests. Returns those that
 * it fails although the policy passes them.
 */
export async function writeCandidate(
  { query, answer, observed }: Unused,
  { write: directory, force }: { readonly write: string; readonly force: boolean },
  io: Surroundings,
): Promise<NonNullable<Document['candidate']>> {
  const { isComplete, uncounted, otherRoles } = observed
  if (!isComplete && !force) {
    const why =
      uncounted > 0
        ? `${count(uncounted, 'decision')} could not be counted by rule`
        : `${observedInWords(observed)}; wait, give fewer --days`
    return decline(`nothing written: ${why}, or add --force`)
  }
  const whole = query.whole
  const isLeft = answer.grants.filter(({ isNew }) => !isNew).length < whole.rules.length
  if (!isLeft) return decline('nothing written: no rule was used, so no rule would be left')

  const { files, set, dropped } = candidateWithout(query.files, whole, answer, otherRoles === 0)
  const tests = await testsFor(query, io)
  await createPolicyDirectory(directory, io.cwd, [
    ...files.map(({ name, text }) => ({ name: ownName(name, query.name), text })),
    ...tests.map(({ name, text }) => ({ name: join('tests', basename(name)), text })),
  ])
  await noteBase(query, directory, io)
  const review = await reviewDirectory(directory, io, async () => ({}))
  return { directory, revision: set.revision, dropped, ...outcomeOf(review, query, io) }
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
async function noteBase(
  { name, settings, whole }: PolicyQuery,
  directory: string,
  io: Surroundings,
): Promise<void> {
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
async function testsFor(
  { name, settings }: PolicyQuery,
  io: Surroundings,
): Promise<readonly PolicyFile[]> {
  if (isCommit(name)) return (await readCommit(name, () => settings.directory, io)).tests
  if (!isPublished(name)) return (await readPolicyDirectory(name, io)).tests
  const own = settings.directory
  return readPolicyDirectory(own, io).then(
    ({ tests }) => tests,
    () => [],
  )
}

/** What the candidate fails and the policy passes. */
function outcomeOf(review: Review, { admission, whole }: PolicyQuery, io: Surroundings) {
  const before = runTests({ ...review, set: whole }, admission, io)
  const after = runTests(review, admission, io)
  const failed = new Set(before?.failures.map(({ expectation }) => expectation))
  return {
    tests: after?.outcomes.length ?? 0,
    failures: (after?.failures ?? [])
      .filter(({ expectation }) => !failed.has(expectation))
      .map((outcome) => {
        const { file, line, column } = outcome.expectation.at
        return `${file}:${line}:${column}: ${describeFailure(outcome)}`
      }),
    errors: review.errors,
  }
}
