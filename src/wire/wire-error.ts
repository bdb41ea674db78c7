/** Our own error codes, besides those of the operating system. */
export type WireProblem =
  | 'connect-timeout'
  | 'response-timeout'
  | 'body-timeout'
  | 'closed'
  | 'malformed'
  | 'no-h2'
  | 'refused-stream'
  | 'destroyed'
  | 'unsendable'

/** How far a request got before it failed, which decides whether it may be sent again. */
export interface HowFar {
  /** Whether a byte of it may have reached the server. */
  readonly sent: boolean
  /** Whether a byte of the response had arrived. */
  readonly heard: boolean
  /** Whether its connection was used or idle before: the server may just have closed it as idle. */
  readonly reused: boolean
}

export const unsent: HowFar = { sent: false, heard: false, reused: false }

/** A request without a complete response. */
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

/** A response that violates RFC 9112. Its connection must be closed. */
export class Malformed extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Malformed'
  }
}
