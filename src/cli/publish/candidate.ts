import { decline } from '../../operations/declined.ts'
import {
  type EngineReport,
  reportEngine,
  slowNote,
  slownessOf,
} from '../../operations/policy/engine-cost.ts'
import { isCommit } from '../../operations/policy/git-directory.ts'
import { reviewDirectory } from '../../operations/policy/review.ts'
import {
  runTests,
  type TestReport,
  tested,
  testNotes,
  testsDocument,
} from '../../operations/policy/run-tests.ts'
import { readSurroundings } from '../../operations/policy/surroundings.ts'
import type { PolicySettings } from '../../operations/policy-settings.ts'
import type { BasePlace } from '../../operations/publish/base.ts'
import type { Finding } from '../../policy/checks/check.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../policy/findings.ts'
import { formatReport } from '../policy/test-view.ts'
import { noteLines } from '../view.ts'

/** A policy that may be published: a directory that is valid and tested, or an earlier revision. */
interface Candidate {
  readonly files: readonly PolicyFile[]
  readonly set: PolicySet
  readonly engine: EngineReport
  /** `undefined` for a revision, which has none. */
  readonly tests: TestReport | undefined
  readonly warnings: readonly Finding[]
  /** The directory, which records where its files come from; `undefined` for a draft or a revision. */
  readonly place: BasePlace | undefined
}

/** What the user accepts about a candidate. */
interface CandidateOptions {
  readonly config: string | undefined
  readonly output: 'text' | 'json'
  readonly accounts: boolean
  readonly 'allow-slow': boolean
  readonly 'allow-empty': boolean
  readonly 'no-tests': boolean
}

/**
 * Reads, checks and tests a directory, and prints what was found. Returns the exit code when the files
 * are not valid or a test fails, and declines what the user has to accept with an option.
 */
export async function readCandidate(
  name: string,
  options: CandidateOptions,
  { settings, io }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<Candidate | number> {
  const { output } = options
  if (isCommit(name)) {
    throw new UsageError(`DIR: ${name} is not a directory: check out ${name.slice(4)} first`)
  }
  const review = await reviewDirectory(name, io, () => readSurroundings(settings, options, io))
  io.err(formatFindings('error', review.errors) + formatFindings('warning', review.warnings))
  const { admission, note } = settings.admission()
  const tests = runTests(review, admission, io)
  if (tests === undefined || review.set === undefined) {
    if (output === 'json') io.out(json({ ok: false, directory: name, errors: review.errors }))
    return exitCodes.invalid
  }
  const { set } = review
  // A policy without rules has nothing to test; --allow-empty guards it.
  const isUntested = tests.outcomes.length === 0 && set.rules.length > 0 && !options['no-tests']
  const report = isUntested ? untested(name) : formatReport(name, tested(tests))
  io.err(noteLines(testNotes(tests, note)) + report)
  if (tests.failures.length > 0 || isUntested) {
    if (output === 'json') io.out(json({ ok: false, ...testsDocument(review, tests) }))
    return exitCodes.testsFailed
  }
  if (set.rules.length === 0 && !options['allow-empty']) {
    return decline(
      'refused: the policy has no rules, so only admin would keep access; if you want that, add --allow-empty',
    )
  }
  const engine = reportEngine(set, io)
  const slowness = slownessOf(engine)
  if (slowness !== undefined && !options['allow-slow']) {
    return decline(`refused: ${slowness}; change the model, or add --allow-slow`)
  }
  io.err(slowNote(engine))
  const { directory, warnings } = review
  const place =
    io.draft === undefined ? { directory: name, cwd: io.cwd, redis: settings.redis() } : undefined
  return { files: directory.files, set, engine, tests, warnings, place }
}

function untested(name: string): string {
  return printable(
    `postern: refused: ${name} has no tests: add them to ${name}/tests/*_test.yaml, or publish without tests with --no-tests`,
  ).concat('\n')
}

/** The same, or a revision as `read` finds it: it was checked and tested before. */
export async function readNamed(
  name: string,
  options: CandidateOptions,
  read: (revision: string) => Promise<Pick<Candidate, 'files' | 'set'>>,
  { settings, io }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<Candidate | number> {
  if (!isRevision(name)) return readCandidate(name, options, { settings, io })
  const { files, set } = await read(name)
  const engine = notedEngine(set, io)
  return { files, set, engine, tests: undefined, warnings: [], place: undefined }
}

/** Names the engine of a revision, and prints a note when its decisions are slow. */
export function notedEngine(set: PolicySet, io: Io): EngineReport {
  const engine = reportEngine(set, io)
  io.err(slowNote(engine))
  return engine
}
