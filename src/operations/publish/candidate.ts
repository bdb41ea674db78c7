import type { Finding } from '../../policy/checks/check.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { decline, Refused } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf } from '../operation.ts'
import { dated } from '../policy/dated.ts'
import { type EngineReport, reportEngine, slownessOf } from '../policy/engine-cost.ts'
import { isCommit } from '../policy/git-directory.ts'
import { reviewDirectory } from '../policy/review.ts'
import { runTests, type TestReport, testsDocument } from '../policy/run-tests.ts'
import { readSurroundings } from '../policy/surroundings.ts'
import type { BasePlace } from './base.ts'
import type { policyPropose } from './descriptions.ts'
import { type ReviewIo, refuseBroken, type Tell } from './review.ts'

/** A policy that may be published: a directory that is valid and tested, or an earlier revision. */
export interface Candidate {
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
type CandidateInput = Pick<
  InputOf<typeof policyPropose.input>,
  'accounts' | 'allow-slow' | 'allow-empty' | 'no-tests'
>

/**
 * Reads, checks and tests a directory, and tells what was found. Refuses files that are not valid or that
 * fail a test, and declines what the user has to accept with an option.
 */
export async function readCandidate(
  name: string,
  input: CandidateInput,
  { settings, context, tell }: ReviewIo,
): Promise<Candidate> {
  if (isCommit(name)) {
    const advice = `check out ${name.slice(4)} first`
    throw new InvalidInput(undefined, `DIR: ${name} is not a directory: ${advice}`)
  }
  const around = { config: context.configFile, accounts: input.accounts }
  const review = await reviewDirectory(name, context, () =>
    readSurroundings(settings, around, context),
  )
  const { directory, errors, warnings, set } = review
  tell({ errors })
  tell({ warnings })
  const { admission, note: about } = settings.admission()
  const tests = runTests(review, admission, context)
  if (tests === undefined || set === undefined) {
    throw new Refused({ document: { ok: false, directory: name, errors }, outcome: 'invalid' })
  }
  // A policy without rules has nothing to test; --allow-empty guards it.
  const isUntested = tests.outcomes.length === 0 && set.rules.length > 0 && !input['no-tests']
  tell({ tests, directory: name, about, isUntested })
  if (tests.failures.length > 0 || isUntested) {
    const document = dated({ ok: false, ...testsDocument(review, tests) })
    throw new Refused({ document, outcome: 'testsFailed' })
  }
  if (set.rules.length === 0 && !input['allow-empty']) {
    return decline(
      'refused: the policy has no rules, so only admin would keep access; if you want that, add --allow-empty',
    )
  }
  const engine = reportEngine(set, context)
  const slowness = slownessOf(engine)
  if (slowness !== undefined && !input['allow-slow']) {
    return decline(`refused: ${slowness}; change the model, or add --allow-slow`)
  }
  tellSlow(engine, tell)
  const { cwd, draft } = context
  const place = draft === undefined ? { directory: name, cwd, redis: settings.redis() } : undefined
  return { files: directory.files, set, engine, tests, warnings, place }
}

/** Reads a directory, or a revision with `read`: a revision was checked and tested before. */
export async function readNamed(
  name: string,
  input: CandidateInput,
  read: () => Promise<Pick<Candidate, 'files' | 'set'>>,
  reviewing: ReviewIo,
): Promise<Candidate> {
  if (!isRevision(name)) return readCandidate(name, input, reviewing)
  const { files, set } = await read()
  refuseBroken(set, reviewing)
  return { files, set, engine: notedEngine(set, reviewing), ...untested }
}

const untested = { tests: undefined, warnings: [], place: undefined } as const

/** Names the engine of a revision, and notes slow decisions. */
export function notedEngine(set: PolicySet, { context, tell }: ReviewIo): EngineReport {
  const engine = reportEngine(set, context)
  tellSlow(engine, tell)
  return engine
}

function tellSlow(engine: EngineReport, tell: Tell): void {
  const slowness = slownessOf(engine)
  if (slowness !== undefined) tell({ note: `note: ${slowness}` })
}
