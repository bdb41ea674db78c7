import type { Readable } from 'node:stream'
import type { OwnEndpoint } from '../admission/own-endpoints.ts'
import type { Need } from '../admission/settle.ts'
import type { Refusal } from '../errors.ts'
import type { Decision } from '../policy/decide.ts'
import type { Caller } from '../token/caller.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { Trace } from '../tracing/trace.ts'
import type { ArrivingHeaders } from './arrival/arriving-headers.ts'
import type { ClientOrigin } from './arrival/client-origin.ts'
import type { Route } from './routes.ts'

/** A request as it came off the wire: nothing decoded, nothing trusted. */
export interface Arrival {
  readonly method: string
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** Absent only where it is known that there is none. */
  readonly body: Body | undefined
  /** Only where the client asks to go on in another protocol. */
  readonly upgrade?: Upgrade | undefined
  readonly notes: Notes
}

/** What a client sends behind the head of its request. */
export type Body = Readable & {
  /** Whether the end of it has come. */
  readonly complete: boolean
  /** Why the end will never come, where that is not because the client has left. */
  readonly failure?: Refusal
}

/** What the client wants to go on with, and what it has already sent of it. */
export interface Upgrade {
  readonly protocol: string
  readonly head: Buffer
}

/** What the stages learned, for the one log line at the end. Written as soon as it is known. */
export interface Notes {
  requestId?: string
  /** The trace it belongs to, where it belongs to one. */
  trace?: Trace
  /** The proxy that asks, and the method it asks about; absent on the public port. */
  contract?: string
  method?: string
  path?: string
  /** The path as the client sent it, where it has no canonical form. */
  rawPath?: string
  /** The path that goes to the upstream, where it is another one. */
  sentPath?: string
  /** The address of the client, as far as it can be believed. */
  address?: string
  /** The path of the route in the configuration, or the name of an endpoint of ours. */
  route?: string
  caller?: Caller
  carrier?: Carrier
  decision?: Decision
  /** How long the policy took to answer. */
  decidingMs?: number
  upstream?: string
  /** When it was first given to a target, by the clock of `performance`. */
  sentAt?: number
  /** The server of the upstream that was asked last, by its name. */
  target?: string
  /** How often the request was sent again, to another target. */
  retries?: number
  /** What cut the exchange with the upstream short; `token`: it ended or expired meanwhile. */
  cut?: 'client' | 'upstream' | 'token' | 'policy' | 'gateway'
  /** Where the token has ended that this request was to end. */
  ended?: 'everywhere' | 'here'
}

/** Where a token rode. */
export type Carrier = 'header' | 'query' | 'cookie'

/** What is asked of the policy: the method, and the one canonical path. */
export interface Call {
  readonly method: string
  readonly path: string
}

declare const stage: unique symbol
type After<Stage extends string, T> = Readonly<T> & { readonly [stage]: Stage }

interface Reception {
  readonly arrival: Arrival
  readonly call: Call
  /** The path for the upstream: that of the call, unless its route replaces the prefix. */
  readonly sentPath: string
  /** Raw text after `?`, without it; empty when there is none. */
  readonly query: string
  readonly headers: ArrivingHeaders
  readonly origin: ClientOrigin
  readonly route: Route | undefined
  readonly endpoint: OwnEndpoint | undefined
  readonly need: Need
  readonly requestId: string
}

interface Identification {
  readonly received: Received
  /** Absent only on a route whose access is `public`. */
  readonly token: VerifiedToken | undefined
  readonly carrier: Carrier | undefined
}

/** Why a request may go on: the policy's decision, or a route that is declared free of the check. */
export type Grounds = Decision | 'authenticated-route' | 'public-route'

export type Received = After<'receive', Reception>
export type Identified = After<'identify', Identification>
export type Authorized = After<'authorize', Identification & { readonly grounds: Grounds }>
