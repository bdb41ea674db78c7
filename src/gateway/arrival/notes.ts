import type { Decision } from '../../policy/decide.ts'
import type { Caller } from '../../token/caller.ts'
import type { TokenKind } from '../../token/tokens.ts'
import type { Trace } from '../../tracing/trace.ts'

/** What the stages find out, for the log line at the end. Each writes it as soon as it knows. */
export interface Notes {
  requestId?: string
  trace?: Trace
  /** The forward-auth contract and the original method; absent on the public port. */
  contract?: string
  method?: string
  /** The canonical host, where routes or the policy need it. */
  host?: string
  path?: string
  /** The path as the client sent it, if it has no canonical form, or was not read yet. */
  rawPath?: string | undefined
  /** The path that goes to the upstream, if it differs. */
  sentPath?: string
  /** The address of the client, as far as trusted peers report it. */
  address?: string
  /** The label of the route, or the name of one of our own endpoints. */
  route?: string
  caller?: Caller
  kind?: TokenKind
  carrier?: Carrier
  /** Headers for the client about the rate limit, if the route has one. */
  rateLimit?: readonly string[]
  /** Programs such as git send a token by HTTP Basic only after a challenge for it. */
  takesBasic?: boolean
  decision?: Decision
  /** The path that it is about, if that is not the path of the request. */
  decidedPath?: string
  /** Casbin's domain that the decision is about. */
  domain?: string
  /** What the shadow policy says about the same request; it is not enforced. */
  shadow?: Decision
  /** How long the policy decision took. */
  decidingMs?: number
  upstream?: string
  /** When it was first sent to a target, in `performance.now()` time. */
  sentAt?: number
  /** The name of the last target. */
  target?: string
  /** How often the request was sent again. */
  retries?: number
  /** Who aborted the exchange with the upstream; `token`: it was revoked or expired meanwhile. */
  cut?: 'client' | 'upstream' | 'token' | 'policy' | 'gateway'
  /** Where a logout has revoked its token, or a new password the other tokens of its user. */
  revoked?: 'everywhere' | 'here'
  /** Where the browser goes after a login at a provider. */
  returnTo?: string
  /** The refusal or fault that the login page shows to a person, or that a proxy passes on. */
  shown?: unknown
  /** The HTTP status of `shown` in the response to a check over gRPC, whose own is always 200. */
  shownStatus?: number
}

/** The part of a request that carries the token. */
export type Carrier = 'header' | 'query' | 'cookie' | 'basic' | 'key'
