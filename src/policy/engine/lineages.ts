import type { Inheritance } from '../rule/rule.ts'
import { ancestorsInSteps } from '../set/inheritance.ts'
import type { Steps } from '../steps.ts'
import type { Numbers } from './tables/numbers.ts'

/** For each role by number those it inherits from, nearest first, one list after the other. */
export interface Lineages {
  /** Where the list of each role begins, and where the last one ends. */
  readonly starts: Int32Array
  readonly ancestors: Int32Array
}

/** Numbers the roles that the inheritances name, and puts their ancestors into lists. */
export function* lineagesOf(inheritances: readonly Inheritance[], roles: Numbers): Steps<Lineages> {
  const lists = new Map<number, readonly number[]>()
  let total = 0
  for (const [roleKey, ancestors] of yield* ancestorsInSteps(inheritances)) {
    lists.set(roles.of(roleKey), ancestors.map(roles.of))
    total += ancestors.length
  }
  const starts = new Int32Array(roles.texts.length + 1)
  const ancestors = new Int32Array(total)
  let end = 0
  for (let role = 0; role < roles.texts.length; role++) {
    for (const ancestor of lists.get(role) ?? []) ancestors[end++] = ancestor
    starts[role + 1] = end
  }
  return { starts, ancestors }
}
