import { type MethodBits, methodBits } from '../review/grants.ts'
import type { AccessChange, Grant, Share } from './access-change.ts'

/** What was reported for earlier moments, by line. */
export function createReported() {
  const byLine = new Map<string, Share[]>()
  return {
    /** Whether the change has a role, rule or method that no earlier report of its line has. */
    isNew(change: AccessChange): boolean {
      const earlier = linesOf(change).map((line) => byLine.get(line) ?? [])
      return earlier.some((shares) => !change.shares.every(createCovering(shares)))
    },
    add(changes: readonly AccessChange[]): void {
      for (const change of changes) {
        for (const line of linesOf(change)) {
          const known = byLine.get(line)
          if (known === undefined) byLine.set(line, [...change.shares])
          else for (const share of change.shares) known.push(share)
        }
      }
    },
  }
}

/** What a report is about: a line, in each domain for which it is reported. */
function linesOf({ direction, cause, line, origin, text, domains = [''] }: AccessChange) {
  const about = [direction, cause, line, origin.file, origin.line, text]
  return domains.map((domain) => JSON.stringify([...about, domain]))
}

/**
 * Whether earlier shares together have all grants of a share, for each of its roles. Thousands of
 * roles can have thousands of grants: roles that were in the same earlier shares are compared once.
 */
function createCovering(earlier: readonly Share[]): (share: Share) => boolean {
  const placesOf = new Map<string, number[]>()
  for (const [at, { roles }] of earlier.entries()) {
    for (const roleKey of namesOf(roles)) {
      const places = placesOf.get(roleKey)
      if (places === undefined) placesOf.set(roleKey, [at])
      else places.push(at)
    }
  }
  return ({ roles, grants }) => {
    const combinations = new Map<string, readonly number[]>()
    for (const roleKey of namesOf(roles)) {
      const places = placesOf.get(roleKey) ?? []
      combinations.set(places.join(), places)
    }
    return [...combinations.values()].every((places) => {
      const known = Map.groupBy(
        places.flatMap((at) => earlier[at]?.grants ?? []),
        ruleOf,
      )
      return grants.every((grant) => isCovered(grant, known.get(ruleOf(grant)) ?? []))
    })
  }
}

/** Without roles, it is about every caller. */
function namesOf(roles: readonly string[]): readonly string[] {
  return roles.length === 0 ? [''] : roles
}

function ruleOf({ origin, owner, path }: Grant): string {
  return JSON.stringify([origin.file, origin.line, owner, path])
}

function isCovered({ methods, certain }: Grant, known: readonly Grant[]): boolean {
  // A gain that is proved only now is more severe than the one that was reported.
  const reported = known.filter((each) => each.certain || !certain)
  return (bitsOf(methods) & ~bitsOf(reported.flatMap((each) => each.methods))) === 0
}

function bitsOf(methods: readonly string[]): MethodBits {
  return methods.reduce((bits, method) => bits | methodBits(method), 0)
}
