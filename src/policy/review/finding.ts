import type { Problem } from '../../kernel/errors.ts'
import type { Origin } from '../rule/rule.ts'
import { columnOf } from '../set/csv-line.ts'
import type { PolicyFile } from '../set/policy-set.ts'

/** What a check can warn about. Scripts and ignore comments use these names: never rename one. */
export const findingCodes = [
  'deny-without-effect',
  'domain-wildcard',
  'duplicate',
  'exclusion-business',
  'exclusion-changes',
  'exclusion-wide',
  'expired',
  'expires-soon',
  'inline-comment',
  'never-applies',
  'not-read',
  'open-matcher',
  'role-new',
  'role-similar',
  'role-spelling',
  'role-unassigned',
  'role-wildcard',
  'role-without-rules',
  'superuser-denied',
  'unserved-path',
  'useless-rule',
  'wide-rule',
] as const

type FindingCode = (typeof findingCodes)[number]

/** A warning: the policy is valid, but its author probably meant something else. */
export interface Finding extends Problem {
  readonly code: FindingCode
  /** The other lines that it is about. */
  readonly related?: readonly Origin[]
}

/** Which column of a policy line a finding is about. */
type Field = 'line' | 'role' | 'domain' | 'path' | 'method'

/** Makes findings out of origins, with the column of the field they are about. */
export type Locate = (origin: Origin, field: Field) => Problem

const fieldNumbers: Readonly<Record<Field, number>> = {
  line: 0,
  role: 1,
  path: 2,
  method: 3,
  domain: 3,
}
const withDomain: Readonly<Record<Field, number>> = {
  line: 0,
  role: 1,
  domain: 2,
  path: 3,
  method: 4,
}

/** Looks columns up in the files that a policy set was read from. */
export function createLocate(files: readonly PolicyFile[], hasDomainColumn = false): Locate {
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  const linesOf = new Map<string, readonly string[]>()
  return ({ file, line }, field) => {
    const known = linesOf.get(file) ?? (texts.get(file) ?? '').split('\n')
    linesOf.set(file, known)
    const text = known[line - 1] ?? ''
    // The second name of a `g` line is in the place of a path, and its domain comes last.
    const numbers = hasDomainColumn && text.trimStart().startsWith('p') ? withDomain : fieldNumbers
    const column = columnOf(text, numbers[field])
    return { file, line, column, message: '' }
  }
}

/** `file:line`, as one finding refers to another place. What is built in has no line. */
export function placeOf({ file, line }: Origin): string {
  return line === 0 ? file : `${file}:${line}`
}
