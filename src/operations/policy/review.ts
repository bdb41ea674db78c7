import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Invalid, type Problem } from '../../kernel/errors.ts'
import {
  type Surroundings as CheckedAgainst,
  checkPolicySet,
  type Finding,
} from '../../policy/checks/check.ts'
import { parseTestFile } from '../../policy/expectations/test-file.ts'
import type { Expectation } from '../../policy/expectations/test-suite.ts'
import { hasDomain } from '../../policy/model/model.ts'
import { type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { readTestFiles } from '../../stores/policies/policy-files.ts'
import type { Surroundings } from '../context.ts'
import type { PolicySettings } from '../policy-settings.ts'
import { withProgress } from '../progress.ts'
import { type PolicyDirectory, readPolicyDirectory } from './directory.ts'
import { isCommit, readCommit } from './git-directory.ts'

/** A policy directory, read and checked. It has a set unless it has errors. */
export interface Review {
  readonly directory: PolicyDirectory
  readonly set: PolicySet | undefined
  readonly errors: readonly Problem[]
  readonly warnings: readonly Finding[]
  readonly expectations: readonly Expectation[]
}

/**
 * Reads and checks a policy directory, its tests included. Looks around only for a valid policy, so that
 * an unreachable store does not hide its errors. Throws `Invalid` when the directory cannot be read.
 */
export async function reviewDirectory(
  name: string,
  io: Surroundings,
  lookAround: () => Promise<CheckedAgainst>,
): Promise<Review> {
  return review(await readPolicyDirectory(name, io), io, lookAround)
}

/** The tests of a directory, if it exists, for another policy than its own. Throws `Invalid`. */
export async function readExpectations(
  name: string,
  { cwd }: Pick<Surroundings, 'cwd'>,
): Promise<readonly Expectation[]> {
  const path = resolve(cwd, name)
  if (!existsSync(path)) return []
  const problems: Problem[] = []
  const files = await readTestFiles(path, name)
  const found = files.flatMap((file) => parseTestFile(file, (problem) => problems.push(problem)))
  if (problems.length > 0) throw new Invalid(problems)
  return found
}

/** `reviewDirectory`, also of a commit; `settings` name its usual directory. */
export async function reviewVersion(
  name: string,
  {
    settings,
    io,
  }: { readonly settings: Pick<PolicySettings, 'directory'>; readonly io: Surroundings },
  lookAround: () => Promise<CheckedAgainst>,
): Promise<Review> {
  if (!isCommit(name)) return reviewDirectory(name, io, lookAround)
  return review(await readCommit(name, () => settings.directory, io), io, lookAround)
}

async function review(
  directory: PolicyDirectory,
  io: Surroundings,
  lookAround: () => Promise<CheckedAgainst>,
): Promise<Review> {
  const errors: Problem[] = []
  const expectations = directory.tests.flatMap((file) =>
    parseTestFile(file, (problem) => errors.push(problem)),
  )
  const set = parse(directory, errors)
  const surroundings: CheckedAgainst =
    set === undefined || errors.length > 0 ? {} : await lookAround()
  const message = set && surroundings.problem?.(set)
  if (message !== undefined) errors.push({ file: modelFile(directory), line: 1, message })
  else if (set !== undefined) {
    errors.push(...domainProblems(set, expectations, surroundings))
    errors.push(...(surroundings.broken?.(set, expectations) ?? []))
  }
  const warnings =
    set === undefined ? [] : warningsOf(set, directory, { expectations, surroundings, io })
  return {
    directory,
    set: errors.length === 0 ? set : undefined,
    errors,
    warnings,
    expectations,
  }
}

/** Without a domain every role is denied, so such a test would test nothing. */
function domainProblems(
  { model }: PolicySet,
  expectations: readonly Expectation[],
  { isHostDomain = false }: CheckedAgainst,
): readonly Problem[] {
  const isPresent = hasDomain(model)
  return expectations.flatMap(({ role, domain, host, at }) => {
    if (isHostDomain && domain !== undefined && (host ?? domain) !== domain) {
      return [{ ...at, message: 'host and domain differ, but the host is the domain: remove one' }]
    }
    const effective = isHostDomain ? (domain ?? host) : domain
    if (role === undefined || role === 'admin' || (effective !== undefined) === isPresent) return []
    const message = isPresent
      ? `${isHostDomain ? 'host or domain' : 'domain'} is required: the model has a domain`
      : 'the model has no domain: remove domain'
    return [{ ...at, message }]
  })
}

function modelFile({ files }: PolicyDirectory): string {
  return files.find(({ name }) => name.endsWith('model.conf'))?.name ?? 'model.conf'
}

function parse({ files }: PolicyDirectory, errors: Problem[]): PolicySet | undefined {
  try {
    return parsePolicySet(files)
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    errors.unshift(...error.problems)
    return undefined
  }
}

interface WarningParts {
  readonly expectations: readonly Expectation[]
  readonly surroundings: CheckedAgainst
  readonly io: Surroundings
}

function warningsOf(
  set: PolicySet,
  { files, strays }: PolicyDirectory,
  { expectations, surroundings, io }: WarningParts,
): readonly Finding[] {
  const mentioned = expectations.flatMap(({ role: roleKey, at, withoutRules }) => {
    return roleKey === undefined ? [] : [{ roleKey, at, withoutRules }]
  })
  const at = io.now?.() ?? Date.now()
  const findings = withProgress('checking rules', io, (tick) =>
    checkPolicySet(set, files, { ...surroundings, mentioned, at, tick }),
  )
  return [...findings, ...strays.map((stray) => ({ ...stray, code: 'not-read' as const }))]
}

/** The texts of the lines that a review is about, which identify a finding while line numbers change. */
export interface ReviewedLines {
  /** Of each error, then of each warning; `null`: it is about no line. */
  readonly lines: readonly (string | null)[]
}

export function linesOf({ directory, errors, warnings }: Review): ReviewedLines {
  const files = [...directory.files, ...directory.tests]
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  const split = new Map<string, readonly string[]>()
  const textOf = ({ file, line = 0 }: Problem): string | null => {
    const known = split.get(file) ?? (texts.get(file) ?? '').split('\n')
    split.set(file, known)
    return known[line - 1]?.trim() ?? null
  }
  return { lines: [...errors, ...warnings].map(textOf) }
}
