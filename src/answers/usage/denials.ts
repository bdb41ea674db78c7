import { evaluate, type Verdict } from '../../admission/verdict.ts'
import type { NearMiss } from '../../policy/engine/decision.ts'
import { explain } from '../../policy/explain.ts'
import { hasDomainColumn } from '../../policy/model/domain-column.ts'
import { patternProblem } from '../../policy/rule/pattern.ts'
import { METHODS, nameProblem } from '../../policy/rule/rule.ts'
import { formatField } from '../../policy/set/csv-line.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Counted, RefusedCall } from '../../policy/usage/usage.ts'
import type { Scope } from '../query-scope.ts'

/** Refusals of one kind of call to one role, and what the policy says about it now. */
interface Denial extends RefusedCall, Counted {
  /** Absent where only the route is known. */
  readonly verdict?: Verdict
  readonly nearMisses: readonly NearMiss[]
  /** The policy line that would allow it, where one can. */
  readonly line?: string
}

/**
 * The most frequent refusals, with near misses and the line that would allow each. A path is shown as it
 * was counted: the pattern of another rule covers calls that were not refused.
 */
export function denialsOf(
  refusals: readonly (RefusedCall & Counted)[],
  scope: Scope,
): readonly Denial[] {
  return refusals
    .toSorted(order)
    .map((refused, at) =>
      at < mostExplained ? explained(refused, scope) : { ...refused, nearMisses: [] },
    )
}

/** More than a person reads. Near misses of a large policy take milliseconds each. */
const mostExplained = 300

function order(a: RefusedCall & Counted, b: RefusedCall & Counted): number {
  return b.count - a.count || b.last - a.last || (a.roleKey < b.roleKey ? -1 : 1)
}

function explained(refused: RefusedCall & Counted, scope: Scope): Denial {
  const { roleKey, domain, method, path } = refused
  if (path === undefined) return { ...refused, nearMisses: [] }
  const { admission, policies } = scope
  const question = { roleKey, domain, method, path }
  const verdict = evaluate(question, admission, policies)
  if (verdict.decision === undefined || verdict.allowed) {
    return { ...refused, verdict, nearMisses: [] }
  }
  const { nearMisses } = explain(question, policies)
  const pattern = patternFor(path, nearMisses)
  // Without a route, a caller with permission gets 404.
  const isMissing = verdict.step === 'none' && !verdict.isUnserved
  const isNamed = pattern !== path || canBePattern(path)
  const line =
    isMissing && isNamed ? allowingLine({ ...refused, path: pattern }, policies.set) : undefined
  return { ...refused, verdict, nearMisses, ...(line !== undefined && { line }) }
}

/**
 * Whether a recorded path means the same as a pattern. A client may send a star or a parameter, and ask
 * so for a line that grants far more than the call; so would a path of identifiers alone.
 */
function canBePattern(path: string): boolean {
  if (/\*|\/:(?!id(?:\/|$))/.test(path)) return false
  return path === '/' || /\/[^:/]/.test(path)
}

/**
 * The path with the names that a near miss has for its identifiers, so that the line looks like its
 * neighbours. A name in the path stays: a parameter in its place would grant far more than the call.
 */
function patternFor(path: string, nearMisses: readonly NearMiss[]): string {
  const named = path.split('/')
  const isAlike = (pattern: string) => {
    const segments = pattern.split('/')
    const isSame = (segment: string, at: number) =>
      segment.startsWith(':') ? named[at] === ':id' : segment === named[at]
    const isPlain = !pattern.includes('*') && segments.length === named.length
    return isPlain && segments.every(isSame)
  }
  return nearMisses.map(({ rule }) => rule.path).find(isAlike) ?? path
}

/** A line for a role, a path and a method, unless the model or the texts make it invalid. */
function allowingLine(
  { roleKey, domain, method, path = '' }: RefusedCall,
  { model }: PolicySet,
): string | undefined {
  // Only its matcher knows what a line of another model allows.
  if (model.casbin !== undefined || !METHODS.includes(method)) return undefined
  const names = hasDomainColumn(model) ? [roleKey, domain ?? ''] : [roleKey]
  // A client may send "*" as its domain, and ask so for a line that counts in all of them.
  if (!names.every(isField) || domain?.endsWith('*') === true) return undefined
  if (patternProblem(path, model.path) !== undefined) return undefined
  const methods = model.methodLists === true ? `^(${method})$` : method
  return ['p', ...names, path, methods].map(formatField).join(', ')
}

function isField(name: string): boolean {
  if (nameProblem('name', name) !== undefined || name.includes('"')) return false
  return name.trim() === name && name !== ''
}
