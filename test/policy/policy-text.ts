import { Invalid, type Problem } from '../../src/kernel/errors.ts'
import { type CompiledSet, compile } from '../../src/policy/engine/compile.ts'
import type { Model } from '../../src/policy/model/model.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../src/policy/set/policy-set.ts'

/** The model that Postern ships: go-admin's. */
export const shippedModel: Model = {
  inheritance: false,
  path: { keyMatch: true, keyMatch2: true },
  anyMethod: true,
  effectColumn: false,
  denyOverrides: false,
}

/** Everything the index grammar knows, at once. */
export const widestModel: Model = {
  inheritance: true,
  path: { keyMatch: true, keyMatch2: true },
  anyMethod: true,
  effectColumn: true,
  denyOverrides: true,
}

export interface PolicyText {
  readonly model?: Model
  readonly modelText?: string
  readonly lines?: readonly string[]
  readonly exclusions?: string
  readonly guardrails?: string
}

/** The files of a policy directory, from the pieces a test cares about. */
export function policyFiles({
  model,
  modelText,
  lines,
  exclusions,
  guardrails,
}: PolicyText): PolicyFile[] {
  return [
    { name: 'model.conf', text: modelText ?? formatModel(model ?? shippedModel) },
    { name: 'policy.csv', text: (lines ?? ['p, editor, /api/v1/orders, GET']).join('\n') },
    { name: 'exclusions.yaml', text: exclusions ?? '' },
    ...(guardrails === undefined ? [] : [{ name: 'guardrails.yaml', text: guardrails }]),
  ]
}

export function policySet(text: PolicyText): PolicySet {
  return parsePolicySet(policyFiles(text))
}

export function policies(text: PolicyText): CompiledSet {
  return compile(policySet(text))
}

/** What is wrong with these files; nothing when they can be used. Any other error passes through. */
export function problemsOf(files: readonly PolicyFile[]): readonly Problem[] {
  try {
    parsePolicySet(files)
    return []
  } catch (error) {
    if (error instanceof Invalid) return error.problems
    throw error
  }
}
