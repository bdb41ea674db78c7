import type { Coverage, Granted } from '../../../answers/coverage/coverage.ts'
import type { OperationFinding } from '../../../answers/coverage/findings.ts'
import type { Problem } from '../../../kernel/errors.ts'
import type { OpenApiDocument, Operation } from '../../../openapi/document.ts'

/** Documents and a policy, compared, as every format prints it. */
export interface Covered {
  readonly documents: readonly OpenApiDocument[]
  readonly coverage: Coverage<Operation>
  readonly findings: readonly OperationFinding<Operation>[]
  /** The policy in words. */
  readonly policy: string
  readonly revision: string
  /** Whether the policy comes from a directory, so that its lines have files. */
  readonly hasFiles: boolean
  /** What the documents have that was ignored. */
  readonly ignored: readonly Problem[]
  readonly isStrict: boolean
  /** The result for a pipeline. */
  readonly ok: boolean
}

/** `policies/policy.csv:7`, and how many lines say the same. */
export function placesOf({ origins }: Granted): string {
  const [first, ...others] = origins
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `${first?.file}:${first?.line}${more}`
}

/** Whose rules these are, and what they say: `auditor, clerk GET /api/v1/orders/*`. */
export function grantText({ by, roles, method, path }: Granted): string {
  if (by === 'exclusion') return `exclusion ${method} ${path}`
  const shown = roles.slice(0, maxRoles).join(', ')
  const more = roles.length > maxRoles ? ` and ${roles.length - maxRoles} more` : ''
  return `${shown}${more} ${method} ${path}`
}

const maxRoles = 3
