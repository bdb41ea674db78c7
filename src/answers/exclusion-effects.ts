import { routeLabel } from '../admission/route-label.ts'
import type { CallRefusal, Verdict } from '../admission/verdict.ts'
import type { Exclusion } from '../policy/rule/rule.ts'
import { type Asked, standingOf } from './asked.ts'
import { createPathCases } from './path-cases.ts'

/** Why an exclusion makes no difference to a call. */
type WithoutEffect =
  | { readonly why: 'refused'; readonly refusal: CallRefusal | undefined }
  | { readonly why: 'unserved' }
  | { readonly why: 'own-endpoint'; readonly need: 'nothing' | 'identity' }
  | { readonly why: 'open-route'; readonly need: 'nothing' | 'identity'; readonly path: string }
  | { readonly why: 'earlier-entry'; readonly exclusion: Exclusion }

/** An entry of the exclusion list, and whether it makes a difference. */
interface ExclusionEffect {
  readonly exclusion: Exclusion
  readonly effect: 'whole' | 'partly' | 'none'
  /** Why some or all of its calls would be answered the same without it. */
  readonly reasons: readonly WithoutEffect[]
}

/** Finds out which exclusions make a difference, whatever the model. */
export function createExclusionEffects(asked: Asked): (exclusion: Exclusion) => ExclusionEffect {
  const { policies, admission } = asked
  // Exclusions come before the rules.
  const pathCases = createPathCases({ ...policies.set, rules: [] }, admission)

  return (exclusion) => {
    const reasons = new Map<string, WithoutEffect>()
    let isEffective = false
    pathCases(exclusion.path, (path) => {
      const { verdict } = standingOf(asked, { method: exclusion.method, path })
      const reason = reasonIn(verdict, exclusion)
      if (reason === undefined) isEffective = true
      else reasons.set(JSON.stringify(reason), reason)
    })
    const effect = !isEffective ? 'none' : reasons.size === 0 ? 'whole' : 'partly'
    return { exclusion, effect, reasons: [...reasons.values()] }
  }
}

function reasonIn(
  { refusal, endpoint, route, isUnserved, need, decision }: Verdict,
  exclusion: Exclusion,
): WithoutEffect | undefined {
  if (refusal !== undefined) return { why: 'refused', refusal }
  if (endpoint !== undefined)
    return { why: 'own-endpoint', need: endpoint.open ? 'nothing' : 'identity' }
  if (isUnserved) return { why: 'unserved' }
  if (route !== undefined && (need === 'nothing' || need === 'identity')) {
    return { why: 'open-route', need, path: routeLabel(route) }
  }
  const deciding = decision?.exclusion
  if (deciding === undefined || deciding === exclusion) return undefined
  return { why: 'earlier-entry', exclusion: deciding }
}
