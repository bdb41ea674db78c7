import type { Problem } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import { childOf, type Spot, spotProblem } from './spot.ts'

/**
 * Whether a document or operation declares that callers need credentials; `undefined` when it says
 * nothing. An empty list requires nothing. Nor does a list with an empty requirement, which makes
 * the others optional.
 */
export function declaresSecurity(
  owner: Spot,
  report: (problem: Problem) => void,
): boolean | undefined {
  const security = childOf(owner, 'security')
  if (security === undefined || security.value === null) return undefined
  if (!Array.isArray(security.value) || !security.value.every(isRecord)) {
    report(spotProblem(security, 'security must be a list of mappings'))
    return undefined
  }
  const requirements: readonly object[] = security.value
  return requirements.length > 0 && requirements.every((each) => Object.keys(each).length > 0)
}
