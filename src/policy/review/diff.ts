import type { Exclusion, Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import type { AccessChange } from './access-change.ts'
import { createChangesOfRole, type Version } from './diff-candidates.ts'
import { possibleGains } from './diff-casbin.ts'
import { type Budget, findGain } from './gain.ts'
import { createGrants, firstMethod, type MethodBits, methodBits, methodNames } from './grants.ts'
import { createNode, place, shapeOf, visitCovering } from './pattern-tree.ts'

export type { AccessChange } from './access-change.ts'

/** The difference of two policies as what callers can do. */
export interface AccessDiff {
  readonly from: string
  readonly to: string
  readonly gains: readonly AccessChange[]
  readonly losses: readonly AccessChange[]
  /** Whether any caller gained access. */
  readonly widened: boolean
}

/**
 * Compares the access that two policies give, not their lines. The model is finite: the roles that
 * either policy names, and the role that neither names, times the patterns of the rules.
 *
 * For each role, the rules that could give it more are taken one by one: allow rules that are new in
 * its lineage and, when a deny rule went out of it, all its allow rules. `findGain` then looks for a
 * path of that rule which the new policy allows and the old one does not, inheritance, wider
 * patterns, `*`, deny rules and exclusions considered. So a rule that was already covered is not a
 * gain, nor is one next to a wider gain. Exclusions are compared the same way, once for all roles.
 * Losses are the gains of the reverse comparison.
 *
 * Never hides a gain. Where it is not exact it reports one too many, with `certain` false: when the
 * search runs out of steps, when prefixes that begin with every character leave no path over, and
 * when casbin answers for a model, because then only its matcher knows what a line means.
 */
export function diffPolicies(from: PolicySet, to: PolicySet, tick: Tick = () => {}): AccessDiff {
  const old = { set: from, grants: createGrants(from) }
  const young = { set: to, grants: createGrants(to) }
  const gains = gainsOf(old, young, (done, total) => tick(done, 2 * total))
  const losses = gainsOf(young, old, (done, total) => tick(total + done, 2 * total))
  return {
    from: from.revision,
    to: to.revision,
    gains,
    losses,
    widened: gains.length > 0,
  }
}

/** Spec, Authentication 5a: nothing is gained or lost by a role that passes without a check. */
const adminKey = 'admin'

/** Seconds rather than minutes, however the two policies are made. */
const mostSteps = 20_000_000

function gainsOf(from: Version, to: Version, tick: Tick): readonly AccessChange[] {
  const budget: Budget = { steps: mostSteps }
  const excluded = newExclusions(from, to, budget)
  if (from.set.model.casbin !== undefined || to.set.model.casbin !== undefined) {
    return [...excluded, ...possibleGains(from.set, to.set)]
  }
  const changes = createChangesOfRole(from, to)
  const roles = [...to.grants.roles].filter((roleKey) => roleKey !== adminKey).sort()
  return [
    ...excluded,
    ...roles.flatMap((roleKey, index) => {
      const candidates = changes(roleKey)
      if (candidates.length > 0 || index % 1000 === 0) tick(index, roles.length)
      return candidates.length === 0 ? [] : gainsOfRole(roleKey, candidates, { from, to, budget })
    }),
  ]
}

function newExclusions(from: Version, to: Version, budget: Budget): AccessChange[] {
  const sides = { from: [from.grants.excluded], to: [to.grants.excluded], budget }
  return widest(to.set.exclusions.flatMap((exclusion) => changeFor(exclusion, sides) ?? []))
}

function gainsOfRole(
  roleKey: string,
  candidates: readonly Rule[],
  { from, to, budget }: { from: Version; to: Version; budget: Budget },
): AccessChange[] {
  const sides = {
    from: [...from.grants.treesOf(roleKey), from.grants.excluded],
    to: to.grants.treesOf(roleKey),
    budget,
  }
  return widest(candidates.flatMap((rule) => changeFor(rule, sides, roleKey) ?? []))
}

function changeFor(
  granted: Rule | Exclusion,
  sides: Parameters<typeof findGain>[2],
  roleKey?: string,
): Candidate | undefined {
  const { path, origin } = granted
  const gain = findGain(shapeOf(path), methodBits(granted.method), sides)
  if (gain === undefined) return undefined
  const { methods: bits, certain } = gain
  const example = gain.example && {
    method: firstMethod(gain.example.methods),
    path: gain.example.path,
  }
  const owner = 'roleKey' in granted ? granted.roleKey : undefined
  const inheritedFrom = owner === roleKey ? undefined : owner
  return {
    roleKey,
    by: owner === undefined ? 'exclusion' : 'rule',
    methods: methodNames(bits),
    path,
    example,
    certain,
    inheritedFrom,
    origin,
    bits,
  }
}

type Candidate = AccessChange & { readonly bits: MethodBits }

/** Those that no other one contains, and one of those that say the same. */
function widest(changes: readonly Candidate[]): AccessChange[] {
  const root = createNode<Candidate[]>()
  for (const change of changes) {
    place(root, shapeOf(change.path), (known = []) => [...known, change])
  }
  const isContained = (change: Candidate) => {
    const { bits } = change
    let contained = false
    visitCovering(root, shapeOf(change.path), (others) => {
      for (const other of others) {
        if (other === change || (bits & ~other.bits) !== 0) continue
        if (change.certain && !other.certain) continue
        const isSame = other.bits === bits && others.includes(change)
        contained ||= !isSame || others.indexOf(other) < others.indexOf(change)
      }
    })
    return contained
  }
  return changes.filter((change) => !isContained(change)).map(({ bits: _, ...change }) => change)
}
