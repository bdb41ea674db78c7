/** What went wrong on the way to a target, besides what the operating system says with codes of its own. */
export type WireProblem =
  | 'connect-timeout'
  | 'answer-timeout'
  | 'body-timeout'
  | 'closed'
  | 'malformed'
  | 'destroyed'
  | 'unsendable'

/** A request that got no answer, or only part of one. */
export class WireError extends Error {
  readonly code: WireProblem | string
  /** Whether anything of an answer had come by then. */
  readonly heard: boolean

  constructor(code: WireProblem | string, message: string, heard: boolean, cause?: Error) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WireError'
    this.code = code
    this.heard = heard
  }
}

/** An answer that is not HTTP/1.1 as RFC 9112 has it; the connection it came on is of no more use. */
export class Malformed extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Malformed'
  }
}
