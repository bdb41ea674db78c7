/** What the browser carries to the provider. */
interface AuthorizationRequest {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  /** SHA-256 of the PKCE verifier (RFC 7636 4.2). */
  readonly challenge: string
  /** Whether the provider must ask for credentials again (Core 3.1.2.1, `prompt` and `max_age`). */
  readonly asksAgain: boolean
}

/** What the browser brought back, and what it must fit. */
interface AuthorizationAnswer {
  readonly code: string
  /** The issuer that the answer names (RFC 9207). */
  readonly iss: string | undefined
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** An ID token whose signature, issuer, audience, nonce and expiry are verified. */
export interface ConfirmedLogin {
  readonly claims: Readonly<Record<string, unknown>>
  readonly idToken: string
  readonly accessToken: string
}

/** An OpenID Connect provider. Throws a Fault while it is unreachable or misconfigured. */
export interface IdentityProvider {
  authorizationUrl(request: AuthorizationRequest): Promise<string>
  /** Throws the Refusal `provider-refused` for a code or an ID token that is not valid. */
  exchange(answer: AuthorizationAnswer): Promise<ConfirmedLogin>
}
