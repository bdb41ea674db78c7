import { adminKey } from '../policy/decide.ts'
import { compileAt } from '../policy/engine/compile.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { differencesOf } from './compare.ts'
import { inDomain } from './in-domain.ts'
import type { Scope } from './query-scope.ts'

/** The role of the simulated account: no policy can name it, because role keys have no control characters. */
const simulatedRole = '\u0001simulated'

interface Simulation {
  /** With all its domains and lines that have expired. */
  readonly set: PolicySet
  readonly at: number
  readonly domain?: string | undefined
  /** The role of the account, and those that it would have. */
  readonly from: string
  readonly to: readonly string[]
}

/**
 * What an account could do with other roles and cannot now, and the reverse. An account has one role, so several are
 * what a role that inherits them all may do: a rule that denies one of them a call denies it.
 */
export function simulate({ admission }: Pick<Scope, 'admission'>, simulation: Simulation) {
  const { set, at, domain, from, to } = simulation
  const [only = '', ...others] = to.includes(adminKey) ? [adminKey] : to
  const origin = { file: '', line: 0 }
  const links = to.map((parentKey) => {
    return { roleKey: simulatedRole, parentKey, origin, ...(domain !== undefined && { domain }) }
  })
  const inheritances = others.length === 0 ? set.inheritances : [...set.inheritances, ...links]
  const policies = compileAt({ ...set, inheritances }, at)
  const scope = {
    admission,
    policies: domain === undefined ? policies : inDomain(policies, domain),
  }
  const after = others.length === 0 ? only : simulatedRole
  return { gains: differencesOf(scope, after, from), losses: differencesOf(scope, from, after) }
}
