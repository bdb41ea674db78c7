import type { AccessRoute } from '../../admission/routes.ts'

/** A path prefix of complete segments, and its upstream. */
export interface Route extends AccessRoute {
  readonly forwardCredentials: boolean
  /** Control headers of the client that this route passes. */
  readonly passHeaders?: readonly string[]
  /** What to do with a body on a method that defines none. */
  readonly unexpectedBody: 'forward' | 'reject'
  readonly limit?: RouteLimit
}

/** `requests` per `seconds` for each caller or address. */
interface RouteLimit {
  readonly requests: number
  readonly seconds: number
  readonly by: 'caller' | 'address'
}
