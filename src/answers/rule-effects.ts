import type { AccessRoute } from '../admission/routes.ts'
import type { Verdict } from '../admission/verdict.ts'
import { decide } from '../policy/decide.ts'
import type { Rule } from '../policy/rule/rule.ts'
import { type CallCase, createCallCases } from './call-cases.ts'
import { createLineages, type HeldRule } from './lineage.ts'
import { hasMethod } from './matching-rules.ts'
import type { Scope } from './query-scope.ts'

/**
 * What a rule does for a role at one place: it `allows` all calls there, or some of them (`partly`)
 * because deny rules take the others, or all (`outweighed`); it `denies` calls that another rule
 * allows; or it makes no difference (`idle`).
 */
type RuleEffect = 'allows' | 'partly' | 'outweighed' | 'denies' | 'idle'

/** A rule that applies to a role, and what it does. */
export interface EffectiveRule extends HeldRule {
  readonly effect: RuleEffect
  /** A call that shows the effect; absent when the rules decide on no call of the pattern. */
  readonly example?: { readonly method: string; readonly path: string }
}

/** A route, `any` without a configuration, or why a rule counts at none. */
type Place = AccessRoute | 'any' | 'unserved' | 'ineffective'

export interface Effects {
  readonly placed: readonly { readonly place: Place; readonly rule: EffectiveRule }[]
  readonly isExact: boolean
  /** Rules without an example, and rules that were left when the time was up. */
  readonly unasked: number
}

/** What each rule of a role and of the roles that it inherits from does, at each route. */
export function effectsOf(scope: Scope, roleKey: string): Effects {
  const { policies } = scope
  const lineages = createLineages(policies.set)
  const ways = lineages.waysUp(roleKey)
  const callCases = createCallCases(scope)
  const appliesTo = (rule: Rule) => rule.roleKey === roleKey || ways.has(rule.roleKey)

  /** What the rule does for one call that the rules decide on. */
  function effectOn(rule: Rule, { method, path, standing, rules }: CallCase): RuleEffect {
    const { host } = standing.verdict
    const { allowed } = decide({ roleKey, method, path, host }, policies)
    if (rule.effect === 'allow') return allowed ? 'allows' : 'outweighed'
    const isAllowed = rules.some(
      (other) => other.effect === 'allow' && appliesTo(other) && hasMethod(other, method),
    )
    return isAllowed ? 'denies' : 'idle'
  }

  let isExact = true
  const placed = policies.set.rules.filter(appliesTo).flatMap((rule) => {
    const held = lineages.held(roleKey, rule)
    const found: EffectsByPlace = new Map()
    const areAll = callCases(rule, (call) => {
      if (call.standing.kind !== 'policy') return
      const { method, path } = call
      const seen = { effect: effectOn(rule, call), example: { method, path } }
      const place = placeOf(call.standing.verdict)
      found.set(place, merged(found.get(place), seen))
    })
    isExact &&= areAll
    return placesOf(held, found)
  })
  return { placed, isExact, unasked: 0 }
}

type ExampleEffect = Pick<EffectiveRule, 'effect' | 'example'>
type EffectsByPlace = Map<Place, ExampleEffect>

export function placeOf({ route, isUnserved }: Verdict): Place {
  return route ?? (isUnserved ? 'unserved' : 'any')
}

/** The effect on all calls of which two effects are known, with the example that shows more. */
function merged(known: ExampleEffect | undefined, seen: ExampleEffect): ExampleEffect {
  if (known === undefined || known.effect === seen.effect) return known ?? seen
  if (known.effect === 'idle' || seen.effect === 'idle')
    return known.effect === 'idle' ? seen : known
  return { ...(known.effect === 'outweighed' ? seen : known), effect: 'partly' }
}

/** The routes at which a rule makes a difference; else why it makes none. */
function placesOf(held: HeldRule, found: EffectsByPlace): Effects['placed'] {
  const active = [...found].filter(([, { effect }]) => effect !== 'idle')
  const served = active.filter(([place]) => place !== 'unserved')
  if (active.length === 0) return [{ place: 'ineffective', rule: { ...held, effect: 'idle' } }]
  return (served.length > 0 ? served : active).map(([place, seen]) => {
    return { place, rule: { ...held, ...seen } }
  })
}
