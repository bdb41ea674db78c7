/** What the shadow would do to a request that the live policy decided otherwise. */
export type Would = 'deny' | 'allow'

/** Why one of the two policies decided as it did. */
export interface Ground {
  readonly step: string
  /** The rule or exclusion that decided, if one did. */
  readonly rule?: { readonly file: string; readonly line: number; readonly text: string }
}

/** Requests of one role and method that both policies decided by the same rules, and differently. */
export interface Disagreement {
  readonly would: Would
  readonly role: string
  readonly method: string
  readonly live: Ground
  readonly shadow: Ground
  readonly count: number
  /** RFC 3339. */
  readonly first: string
  readonly last: string
  /** The last such request. Path and user ID appear as `logger.decisions` allows. */
  readonly requestId: string
  readonly path?: string
  /** Casbin's domain. */
  readonly domain?: string
  readonly userId?: string
}

/**
 * Equal for disagreements of one kind, at one gateway and between them. By the text of the rules: a new
 * live revision has the same rules as other objects, and on other lines.
 */
export function disagreementKey({
  would,
  role,
  method,
  live,
  shadow,
}: Pick<Disagreement, 'would' | 'role' | 'method' | 'live' | 'shadow'>): string {
  const grounds = [live.step, live.rule?.text, shadow.step, shadow.rule?.text]
  return [would, role, method, ...grounds].join('\n')
}

/** The requests that the live policy decided and the shadow was asked about. */
export interface ShadowCounts {
  readonly evaluated: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  /** Requests on which the engine of the shadow failed; they are not in `evaluated`. */
  readonly failed: number
}

export const noCounts: ShadowCounts = { evaluated: 0, wouldDeny: 0, wouldAllow: 0, failed: 0 }

/** What one replica has seen since it loaded the shadow. */
export interface Evidence extends ShadowCounts {
  /** The live revisions that it was compared with, the latest last. */
  readonly against: readonly string[]
  readonly disagreements: readonly Disagreement[]
}

/** How much of each a replica keeps and a reader accepts. Beyond it, requests are only counted. */
export const bounds = {
  disagreements: 50,
  against: 8,
  /** Characters of a role, a method or an ID, and of a path or the text of a rule. */
  name: 128,
  text: 256,
} as const
