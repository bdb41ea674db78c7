import type { Need } from '../admission/classify.ts'
import type { OwnEndpoint } from '../admission/own-endpoints.ts'
import type { Decision } from '../policy/decide.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { ArrivingHeaders } from './arrival/arriving-headers.ts'
import type { ClientOrigin } from './arrival/client-origin.ts'
import type { Carrier } from './arrival/notes.ts'
import type { Route, RouteShape } from './route/route.ts'

/** What the policy decides about: the method, the canonical path, and the host where it matters. */
interface Call {
  readonly method: string
  readonly path: string
  /** Canonical; absent if neither routes nor the policy need it. */
  readonly host?: string | undefined
  /** Casbin's domain, if it is the host. */
  readonly domain?: string | undefined
}

/** The path that COPY or MOVE writes to, and the one for the upstream. */
export interface Destination {
  readonly path: string
  readonly sentPath: string
}

declare const stage: unique symbol
type After<Stage extends string, T> = Readonly<T> & { readonly [stage]: Stage }

interface Reception {
  readonly arrival: Arrival
  readonly call: Call
  /** The path for the upstream. It differs from that of the call if the route replaces the prefix. */
  readonly sentPath: string
  /** The raw text after `?`, or empty. */
  readonly query: string
  readonly headers: ArrivingHeaders
  readonly origin: ClientOrigin
  readonly route: Route | undefined
  readonly endpoint: OwnEndpoint | undefined
  readonly need: Need
  /** Only for COPY and MOVE. */
  readonly destination: Destination | undefined
  readonly requestId: string
}

interface Identification {
  readonly received: Received
  /** Absent only on a route whose access is `public`. */
  readonly token: VerifiedToken | undefined
  readonly carrier: Carrier | undefined
  /** The carriers that are the service's own; only on a route that names ours. */
  readonly passed: ReadonlySet<Carrier> | undefined
}

/** Why a request is allowed: the policy's decision, or a route that needs none. */
export type Grounds = Decision | 'authenticated-route' | 'public-route'

export type Received = After<'receive', Reception>
export type Identified = After<'identify', Identification>
export type Authorized = After<'authorize', Identification & { readonly grounds: Grounds }>

/** The settings of a route do not apply to an endpoint that Postern or a named upstream serves. */
export function shapeOf({ route, endpoint }: Received): RouteShape | undefined {
  return endpoint === undefined ? route?.shape : undefined
}
