/**
 * The algorithms that another issuer may sign with. All are asymmetric: with a shared secret, anyone
 * who can verify could also issue.
 */
export const issuerAlgorithms = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA'] as const),
] as const

export type IssuerAlgorithm = (typeof issuerAlgorithms)[number]

/** Where the claims of a token are: a top-level name, or a JSON pointer that starts with `/`. */
interface ClaimNames {
  readonly userId: string
  /** Unset: the user ID is also the user name. */
  readonly userName?: string | undefined
  readonly roleKey: string
  readonly dataScope?: string | undefined
}

/** Which role the holder of a claim value gets. */
interface RoleMapping {
  readonly value: string
  readonly role: string
  readonly dataScope?: string | undefined
}

/** An issuer whose tokens are accepted beside our own. */
export interface Issuer {
  /** Compared with `iss`, character by character. */
  readonly issuer: string
  /** A short name for logs, metrics and commands. */
  readonly name: string
  readonly audience: readonly string[]
  readonly algorithms: readonly IssuerAlgorithm[]
  readonly claims: ClaimNames
  /** In order: the first that matches wins. */
  readonly roles: readonly RoleMapping[]
  /** Put before the user ID, so that no user of this issuer is mistaken for an account of ours. */
  readonly userIdPrefix: string
  readonly maxLifetimeSeconds: number
  /** The required `typ` of the header. Unset: absent, JWT or at+jwt. */
  readonly typ?: string | undefined
  /** Whether its ID tokens act as access tokens. Unset: no. */
  readonly acceptIdTokens?: boolean | undefined
}
