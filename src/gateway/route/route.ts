import type { AccessRoute } from '../../admission/routes.ts'
import type { Carrier } from '../arrival/notes.ts'
import type { Sticky } from '../upstream/sticky.ts'

/** What a route asks of its requests beyond access, prepared when the configuration is loaded. */
export interface RouteShape {
  readonly maxBodyBytes?: number | undefined
  readonly timeouts?: RouteTimeouts | undefined
  /** Whether a client with this address may use the route. */
  readonly acceptsAddress?: ((address: string) => boolean) | undefined
  readonly editRequest?: ((headers: readonly string[]) => string[]) | undefined
  readonly editResponse?: EditResponse | undefined
  readonly securityHeaders?: SecurityHeaders | undefined
  readonly fixed?: FixedResponse | undefined
  /** How its clients stay with a target. */
  readonly sticky?: Sticky | undefined
}

type EditResponse = (headers: readonly string[], carrier: Carrier | undefined) => string[]

/** Pairs of name and value, by the scheme of the client's request. */
export type SecurityHeaders = Readonly<
  Record<'http' | 'https', readonly (readonly [string, string])[]>
>

/** A response of the gateway itself, ready to be sent any number of times. */
export interface FixedResponse {
  readonly status: number
  readonly headers: readonly string[]
  /** As Latin-1. */
  readonly body: string
  /** The Location header: alone, or the texts before and after the path of the request. */
  readonly location: readonly string[] | undefined
}

/** Unset: those of the upstream, and no limit for the whole exchange. */
export interface RouteTimeouts {
  readonly headersMs?: number
  readonly bodyMs?: number
  readonly totalMs?: number
}

/** What the gateway does with the requests that a route matches. */
export interface Route extends AccessRoute {
  readonly forwardCredentials: boolean
  /** `upstream`: URLs of the upstream in Location become ours. Unset: `off`. */
  readonly rewriteLocation?: 'off' | 'upstream'
  /**
   * The only ones that are read as ours, among them the names of headers; the upstream gets the others.
   * Unset: header, query and cookie are ours.
   */
  readonly carriers?: readonly string[]
  /** Control headers of the client that this route passes. */
  readonly passHeaders?: readonly string[]
  /** What to do with a body on a method that defines none. */
  readonly unexpectedBody: 'forward' | 'reject'
  readonly limit?: RouteLimit
  /** Absent unless the route has settings that change its requests or responses. */
  readonly shape?: RouteShape
}

/** `requests` per `seconds` for each caller, address or role, or for all requests to a service. */
export interface RouteLimit {
  readonly requests: number
  readonly seconds: number
  /** How many may come at once; then they come evenly. Unset: all, in windows of the clock. */
  readonly burst?: number
  readonly by: 'caller' | 'address' | 'role' | 'service'
}
