import { ANY_METHOD } from '../rule/rule.ts'
import type { AccessChange, Grant, Severity } from './access-change.ts'

const order: readonly Severity[] = [
  'superuser',
  'unchecked',
  'wide',
  'changing',
  'reading',
  'uncertain',
  'loss',
]

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** How severe a change is: as its most severe grant. */
export function severityOf({
  direction,
  cause,
  shares,
}: Pick<AccessChange, 'direction' | 'cause' | 'shares'>): Severity {
  if (direction === 'loss') return 'loss'
  if (cause === 'superuser') return 'superuser'
  if (cause === 'exclusion') return 'unchecked'
  let most: Severity = 'uncertain'
  for (const { grants } of shares) {
    for (const grant of grants) {
      const severity = severityOfGrant(grant)
      if (order.indexOf(severity) < order.indexOf(most)) most = severity
    }
  }
  return most
}

function severityOfGrant({ methods, path, certain }: Grant): Severity {
  if (!certain) return 'uncertain'
  if (methods.includes(ANY_METHOD) || path.endsWith('*')) return 'wide'
  return methods.every((each) => readingMethods.has(each)) ? 'reading' : 'changing'
}

/** Most severe first; then by role, path, and place. */
export function bySeverity(a: AccessChange, b: AccessChange): number {
  return (
    order.indexOf(a.severity) - order.indexOf(b.severity) ||
    compare(a.roleKey ?? '', b.roleKey ?? '') ||
    compare(pathOf(a), pathOf(b)) ||
    compare(a.origin.file, b.origin.file) ||
    a.origin.line - b.origin.line
  )
}

function pathOf({ shares }: AccessChange): string {
  return shares[0]?.grants[0]?.path ?? ''
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
