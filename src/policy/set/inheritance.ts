import type { Problem } from '../../kernel/errors.ts'
import { type Inheritance, quote } from '../rule/rule.ts'
import { finish, rowsPerStep, type Steps } from '../steps.ts'

/** Casbin follows this many links and silently ignores the rest, so longer chains are rejected. */
const longestChain = 10

/** Reports circular inheritance and chains that are too long. */
export function checkInheritances(
  inheritances: readonly Inheritance[],
  report: (problem: Problem) => void,
): void {
  for (const group of byScope(inheritances).values()) checkScope(group, report)
}

/** `g` and `g2`, and different domains, are independent of each other. */
export function scopeOf(relation = 'g', domain?: string): string {
  return domain === undefined ? relation : `${relation}\0${domain}`
}

/** The inheritances by scope. */
export function byScope(
  inheritances: readonly Inheritance[],
): ReadonlyMap<string, readonly Inheritance[]> {
  return Map.groupBy(inheritances, ({ relation, domain }) => scopeOf(relation, domain))
}

function checkScope(
  inheritances: readonly Inheritance[],
  report: (problem: Problem) => void,
): void {
  const linksOf = Map.groupBy(inheritances, ({ roleKey }) => roleKey)
  const heights = new Map<string, number>()
  const open = new Set<string>()

  // An explicit stack: a chain as long as a policy file would exhaust the call stack.
  const stack = [...linksOf.keys()].map((roleKey) => ({ roleKey, next: 0 }))
  const top = () => stack[stack.length - 1]
  for (let frame = top(); frame !== undefined; frame = top()) {
    const links = linksOf.get(frame.roleKey) ?? []
    if (frame.next === 0 && heights.has(frame.roleKey)) {
      stack.pop()
      continue
    }
    open.add(frame.roleKey)
    const link = links[frame.next++]
    if (link === undefined) {
      heights.set(frame.roleKey, heightOf(links, heights, report))
      open.delete(frame.roleKey)
      stack.pop()
    } else if (open.has(link.parentKey)) {
      report({ ...link.origin, message: circleMessage(link) })
    } else if (!heights.has(link.parentKey)) {
      stack.push({ roleKey: link.parentKey, next: 0 })
    }
  }
}

function circleMessage({ roleKey, parentKey }: Inheritance): string {
  return roleKey === parentKey
    ? `role ${quote(roleKey)} inherits from itself: remove the line`
    : `circular inheritance: role ${quote(roleKey)} inherits from ${quote(parentKey)}, which already inherits from it: remove one of the lines`
}

function heightOf(
  links: readonly Inheritance[],
  heights: ReadonlyMap<string, number>,
  report: (problem: Problem) => void,
): number {
  let height = 0
  for (const link of links) {
    const above = 1 + (heights.get(link.parentKey) ?? 0)
    if (above === longestChain + 1) {
      const message = `role ${quote(link.roleKey)} has more than ${longestChain} levels of inheritance above it: shorten the chain`
      report({ ...link.origin, message })
    }
    height = Math.max(height, above)
  }
  return height
}

/** Every role that inherits, with all the roles it inherits from, nearest first. */
export function ancestorsByRole(
  inheritances: readonly Inheritance[],
): ReadonlyMap<string, readonly string[]> {
  return finish(ancestorsInSteps(inheritances))
}

/** `ancestorsByRole` in steps. */
export function* ancestorsInSteps(
  inheritances: readonly Inheritance[],
): Steps<ReadonlyMap<string, readonly string[]>> {
  const linksOf = Map.groupBy(inheritances, ({ roleKey }) => roleKey)
  const ancestors = new Map<string, readonly string[]>()
  let followed = 0
  for (const roleKey of linksOf.keys()) {
    const reached = new Set([roleKey])
    // The loop also visits the elements that it adds, in the order of insertion.
    for (const each of reached) {
      for (const { parentKey } of linksOf.get(each) ?? []) {
        reached.add(parentKey)
        if (++followed % rowsPerStep === 0) yield
      }
    }
    reached.delete(roleKey)
    ancestors.set(roleKey, [...reached])
  }
  return ancestors
}
