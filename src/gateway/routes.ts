import type { AccessRoute } from '../admission/routes.ts'

/** A path prefix, on segment borders, and the upstream behind it. */
export interface Route extends AccessRoute {
  readonly forwardCredentials: boolean
  /** Headers of the client that go on although they make servers act, by name. */
  readonly passHeaders?: readonly string[]
  /** What becomes of a body that comes with a method that has no use for one. */
  readonly unexpectedBody: 'forward' | 'reject'
  readonly limit?: RouteLimit
}

/** How many requests a route takes from one caller, or from one address, in so many seconds. */
interface RouteLimit {
  readonly requests: number
  readonly seconds: number
  readonly by: 'caller' | 'address'
}
