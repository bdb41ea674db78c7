import { routeLabel } from '../../../admission/route-label.ts'
import type { FindingKind, OperationFinding } from '../../../answers/coverage/findings.ts'
import type { Operation } from '../../../openapi/document.ts'
import { placeOf } from '../../../policy/review/finding.ts'

type Kind = OperationFinding<unknown>['kind']

/** The kinds of findings, the most severe first: what one operation and what several do. */
export const kindWords: Readonly<Record<Kind, { readonly one: string; readonly many: string }>> = {
  public: {
    one: 'declares security, but needs no token',
    many: 'declare security, but need no token',
  },
  authenticated: {
    one: 'declares security, but needs no permission: every valid token is enough',
    many: 'declare security, but need no permission: every valid token is enough',
  },
  refused: { one: 'is refused to every caller', many: 'are refused to every caller' },
  unserved: { one: 'has no route: callers get 404', many: 'have no route: callers get 404' },
  admin: { one: 'is for admin only', many: 'are for admin only' },
  some: {
    one: 'can be called with some values only',
    many: 'can be called with some values only',
  },
  undecided: {
    one: 'was not checked: this model is too slow',
    many: 'were not checked: this model is too slow',
  },
}

/** The most severe first, otherwise in the order of the documents. */
export function bySeverity<Finding extends { readonly kind: Kind }>(
  findings: readonly Finding[],
): readonly Finding[] {
  const kinds = Object.keys(kindWords)
  return findings.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
}

/** Whether a pipeline with --strict fails on this kind. */
export function failsStrict(kind: FindingKind): boolean {
  return kind !== 'some' && kind !== 'undecided'
}

/** Why it is so, and for which values. */
export function detailOf(finding: OperationFinding<Operation>): string {
  const { shown, isForAll, kind, operation, isComplete } = finding
  const isTemplate = operation.path.includes('{')
  const about = [
    ...(shown === undefined ? [] : reasonOf(finding)),
    ...(shown === undefined || isForAll || !isTemplate
      ? []
      : [`for ${kind === 'some' ? 'other' : 'some'} values, such as ${shown.example}`]),
    ...(isComplete || kind === 'undecided' ? [] : ['sampled']),
  ]
  return about.join(', ')
}

function reasonOf({ kind, shown }: OperationFinding<Operation>): readonly string[] {
  if (shown === undefined) return []
  const { verdict, exclusion, access } = shown
  if (kind === 'some') return [`${someWords[access] ?? access}`]
  if (kind === 'refused') return [verdict.refusal ?? '']
  if (kind !== 'public' && kind !== 'authenticated') return []
  if (verdict.endpoint !== undefined) return [`own endpoint ${verdict.endpoint.name}`]
  if (exclusion !== undefined) return [`exclusion ${placeOf(exclusion.origin)}`]
  if (verdict.route !== undefined)
    return [`route ${routeLabel(verdict.route)}, access ${verdict.route.access}`]
  return []
}

const someWords: Readonly<Record<string, string>> = {
  admin: 'admin only',
  unserved: 'no route',
  refused: 'refused',
}
