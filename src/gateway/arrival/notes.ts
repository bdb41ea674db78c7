import type { Decision } from '../../policy/decide.ts'
import type { Caller } from '../../token/caller.ts'
import type { Trace } from '../../tracing/trace.ts'

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
