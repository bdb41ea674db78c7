import { type Admission, evaluate, type Verdict } from '../admission/verdict.ts'
import { adminKey } from '../policy/decide.ts'
import type { CompiledSet } from '../policy/engine/decision.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'

/** What a question is about: a policy, and the configuration of the gateway that loads it. */
export interface Scope {
  readonly policies: CompiledSet
  readonly admission: Admission
}

/** A role that no policy can name, because role keys have no control characters. */
export const unnamedRole = '\0'

/**
 * What a call needs of every caller: the gateway refuses it to all (`refused`), everyone may make it,
 * with or without a token (`open`), or the rules decide (`policy`).
 */
export interface Standing {
  readonly kind: 'refused' | 'open' | 'policy'
  /** The verdict on a role without any rule. */
  readonly verdict: Verdict
}

export function standingOf(
  { admission, policies }: Scope,
  call: { readonly method: string; readonly path: string },
): Standing {
  const verdict = evaluate({ ...call, roleKey: unnamedRole }, admission, policies)
  const { step, endpoint } = verdict
  // A caller who passes the permission check gets 405, so no caller may.
  if (step === 'refused' || endpoint?.name === 'wrong-method') return { kind: 'refused', verdict }
  const isOpen = step === 'route' || step === 'endpoint' || step === 'exclusion'
  return { kind: isOpen ? 'open' : 'policy', verdict }
}

/** Every role that the policy names, sorted, without `admin`, which needs no rule. */
export function rolesIn({ rules, inheritances, model }: PolicySet): readonly string[] {
  const roles = new Set(rules.map(({ roleKey }) => roleKey))
  for (const { roleKey } of model.superusers ?? []) roles.add(roleKey)
  for (const { roleKey, parentKey, relation } of inheritances) {
    // Other relations, such as g2, are between resources.
    if (relation === undefined) roles.add(roleKey).add(parentKey)
  }
  roles.delete(adminKey)
  // Under a model that Casbin evaluates, a rule may name no role.
  roles.delete('')
  return [...roles].sort()
}

/** Why a role may make every call that the gateway does not refuse, and no rule counts. */
type FullAccess = 'admin' | { readonly clause: string }

export function fullAccess({ policies }: Scope, roleKey: string): FullAccess | undefined {
  if (roleKey === adminKey) return 'admin'
  if (policies.set.model.superusers === undefined) return undefined
  // A superuser may make every call, so the answer to one call tells.
  const decision = policies.engine.decide({ roleKey, method: 'GET', path: '/' })
  if (decision?.step !== 'superuser' || decision.clause === undefined) return undefined
  return { clause: decision.clause }
}
