import { STATUS_CODES } from 'node:http'

/** A request that the console does not serve, with its status and a text for its sender. */
export class Problem extends Error {
  readonly status: number
  /** Which problem it is, where the status alone does not say it. */
  readonly kind: string | undefined

  constructor(status: number, message: string, kind?: string) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.kind = kind
  }
}

/** The client has closed the connection before its answer was there. */
export class ClientGone extends Error {}

/** The media type of an error. */
export const problemType = 'application/problem+json; charset=utf-8'

/** What RFC 9457 has for an error: programs may compare `type`, people read `detail`. */
export interface ProblemMembers {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
}

/** `kind`: which refusal or fault it is, where the status alone does not say it. */
export function problemMembers(status: number, detail: string, kind?: string): ProblemMembers {
  const name = kind ?? kinds[status] ?? 'malformed-request'
  return {
    type: `urn:postern:problem:${name}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
  }
}

const kinds: Readonly<Record<number, string>> = {
  400: 'invalid-request',
  403: 'not-permitted',
  404: 'not-found',
  413: 'body-too-large',
  414: 'address-too-long',
  415: 'wrong-content-type',
  421: 'wrong-host',
  422: 'invalid-policy-or-configuration',
  429: 'too-many-requests',
  500: 'bug',
  503: 'unavailable',
  507: 'answer-too-long',
}
