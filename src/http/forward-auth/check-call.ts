import type { Arrival } from '../../gateway/arrival/arrival.ts'
import type { IsTrusted } from '../../gateway/arrival/trusted-peers.ts'
import type { Check } from '../../gateway/check.ts'
import type { Reply } from '../../gateway/reply.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { FindErrorPage } from '../error-page.ts'
import { codeOfError } from '../grpc/status.ts'
import { readMessage, replyMessage } from '../grpc/unary.ts'
import { redirectHeaders } from '../redirect-reply.ts'
import type { FindErrorResponse } from '../reply-error.ts'
import { readCheckRequest } from './check-request.ts'
import { allowedResponse, deniedResponse } from './check-response.ts'
import { describedRequest } from './described-request.ts'
import { loginLocation, type NameLogin } from './name-login.ts'
import { utf8 } from './protobuf.ts'

interface CheckCallParts {
  readonly check: Check
  readonly isTrusted: IsTrusted
  readonly nameLogin: NameLogin
  readonly findPage: FindErrorPage
  readonly findErrorResponse: FindErrorResponse
}

export type AnswerCall = (call: Arrival, reply: Reply) => Promise<void>

/** Headers of a client and, if the proxy sends it along, a part of its body. */
const maxMessageBytes = 1_048_576

/**
 * Envoy's external authorization over gRPC. Everything but permission is a denial, also a fault and a
 * message that cannot be read: after a gRPC error, an Envoy with `failure_mode_allow` forwards.
 */
export function createCheckCall(parts: CheckCallParts): AnswerCall {
  return async (call, reply) => {
    const { notes } = call
    let described: Arrival | undefined
    let response: Buffer
    try {
      refuseStranger(call, parts.isTrusted)
      described = describedRequest(call, readCheckRequest(await readMessage(call, maxMessageBytes)))
      response = allowed(await parts.check(described))
    } catch (thrown) {
      const error = described === undefined ? thrown : parts.nameLogin(thrown, described)
      const headers = described?.rawHeaders ?? []
      const found = parts.findErrorResponse(error, headers, notes.requestId)
      const page = described && parts.findPage(error, described, notes.requestId)
      notes.shown = error
      notes.shownStatus = loginLocation(error) === undefined ? found.envelope.status : 302
      response = denial(error, found, page)
    }
    replyMessage(reply, response)
  }
}

/** The message that denies a check for this reason, or sends a browser to the login. */
export function denial(
  error: unknown,
  { envelope, json, extra }: ReturnType<FindErrorResponse>,
  page?: ReturnType<FindErrorPage>,
): Buffer {
  const grpcCode = codeOfError(error)
  const location = loginLocation(error)
  if (location !== undefined) {
    return deniedResponse({ grpcCode, status: 302, headers: redirectHeaders(location), body: '' })
  }
  return deniedResponse({
    grpcCode,
    status: page?.status ?? envelope.status,
    headers: withoutLength(page?.headers ?? [...json.headers, ...extra]),
    body: page === undefined ? json.text : utf8(page.text),
  })
}

/** Before the message, which only proxies may make us read. */
export function refuseStranger({ remoteAddress }: Arrival, isTrusted: IsTrusted): void {
  if (isTrusted(remoteAddress)) return
  throw new Refusal('bad-request', { reason: 'peer is not a trusted proxy' })
}

const removalHeader = 'X-Envoy-Auth-Headers-To-Remove'

/** The header of the HTTP contract that lists headers to remove is a field here. */
function allowed(headers: readonly string[]): Buffer {
  const set: string[] = []
  const removed: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    if (name === removalHeader) removed.push(...value.split(', ').filter((each) => each !== ''))
    else set.push(name, value)
  }
  return allowedResponse(set, removed)
}

/** Envoy computes it. */
function withoutLength(headers: readonly string[]): readonly string[] {
  return headers.filter((_, at) => headers[at - (at % 2)] !== 'Content-Length')
}
