/** What went wrong on the way to a target, besides what the operating system says with codes of its own. */
export type WireProblem =
  | 'connect-timeout'
  | 'response-timeout'
  | 'body-timeout'
  | 'closed'
  | 'malformed'
  | 'destroyed'
  | 'unsendable'

/** How far a request had come when it failed: what decides whether it may be sent again. */
export interface HowFar {
  /** Whether a byte of it may have reached the server. */
  readonly sent: boolean
  /** Whether a byte of the response had arrived. */
  readonly heard: boolean
  /** Whether its connection was used or idle before: the server may have closed it for that alone. */
  readonly reused: boolean
}

export const unsent: HowFar = { sent: false, heard: false, reused: false }

/** A request that got no answer, or only part of one. */
export class WireError extends Error implements HowFar {
  readonly code: WireProblem | string
  readonly sent: boolean
  readonly heard: boolean
  readonly reused: boolean

  constructor(code: WireProblem | string, message: string, howFar: HowFar, cause?: Error) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WireError'
    this.code = code
    this.sent = howFar.sent
    this.heard = howFar.heard
    this.reused = howFar.reused
  }
}

/** An answer that is not HTTP/1.1 as RFC 9112 has it; the connection it came on is of no more use. */
export class Malformed extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Malformed'
  }
}
