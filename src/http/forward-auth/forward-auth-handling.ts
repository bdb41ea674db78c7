import type { IsTrusted } from '../../gateway/arrival/trusted-peers.ts'
import type { Check } from '../../gateway/check.ts'
import type { Messages } from '../../messages/messages.ts'
import { statusEnvelopes } from '../envelope.ts'
import { createPageReplies, type FindErrorPage } from '../error-page.ts'
import { grpcTypeOf } from '../grpc/grpc-call.ts'
import { codeOf } from '../grpc/status.ts'
import { readMessage, replyMessage, replyStatus } from '../grpc/unary.ts'
import type { Handling } from '../handling.ts'
import { createErrorReplies, createErrorResponses } from '../reply-error.ts'
import { type AnswerCall, createCheckCall, denial, refuseStranger } from './check-call.ts'
import { loginLocation, type NameLogin } from './name-login.ts'
import { encoded, Fields, latin1Of, numberField, wholeOf } from './protobuf.ts'

interface ForwardAuthParts {
  readonly check: Check
  readonly isTrusted: IsTrusted
  readonly nameLogin: NameLogin
  /** The page for a browser that was refused. */
  readonly findPage: FindErrorPage
  /** Whether checks can be answered, for health checks over gRPC. */
  readonly isReady: () => boolean
  readonly messages: Messages
  readonly stallTimeoutMs: number
}

const authorization = 'envoy.service.auth.v3.Authorization'
const checkPath = `/${authorization}/Check`

/**
 * The forward-auth port responds with a real status, since proxies look at nothing else, and with the
 * identity headers. Parser, limits, log line and metrics are those of the public port. Over HTTP/2, it
 * also answers Envoy's checks over gRPC.
 */
export function createForwardAuthHandling(parts: ForwardAuthParts): Handling {
  const { check, isTrusted, nameLogin, findPage, isReady, ...common } = parts
  const findErrorResponse = createErrorResponses(statusEnvelopes, parts.messages)
  const replyHttp = createPageReplies(findPage, createErrorReplies(findErrorResponse))
  const calls: ReadonlyMap<string, AnswerCall> = new Map([
    [checkPath, createCheckCall({ check, isTrusted, nameLogin, findPage, findErrorResponse })],
    ['/grpc.health.v1.Health/Check', createHealthCall([authorization], { isReady, isTrusted })],
  ])

  return {
    ...common,
    // Also of a request that is shed: after a gRPC error, an Envoy with `failure_mode_allow` forwards.
    replyError(error, to) {
      const { request, reply, requestId } = to
      if (reply.headersSent || request.url !== checkPath || !isGrpc(request)) replyHttp(error, to)
      else replyMessage(reply, denial(error, findErrorResponse(error, [], requestId)))
    },
    // nginx takes a redirect for a failure: it gets 401 with the address, and redirects itself.
    redirectOf: (error, { notes }) =>
      notes.contract === 'nginx' ? undefined : loginLocation(error),
    async pass(forwardAuth, reply) {
      const call = isGrpc(forwardAuth) ? calls.get(forwardAuth.target) : undefined
      if (call !== undefined) return call(forwardAuth, reply)
      try {
        const headers = await check(forwardAuth)
        reply.writeHead(200, ['Content-Length', '0', 'Cache-Control', 'no-store', ...headers])
        reply.end()
      } catch (error) {
        throw nameLogin(error, forwardAuth)
      }
    },
  }
}

/** Not gRPC-Web, which browsers use. */
function isGrpc(request: Parameters<typeof grpcTypeOf>[0] & { httpVersion: string }): boolean {
  if (request.httpVersion !== '2') return false
  return grpcTypeOf(request)?.startsWith('application/grpc-web') === false
}

const maxMessageBytes = 1024
const serving = 1
const notServing = 2

interface HealthParts {
  readonly isReady: () => boolean
  readonly isTrusted: IsTrusted
}

/** `grpc.health.v1.Health/Check` about this listener as a whole or one of `services`. */
function createHealthCall(services: readonly string[], parts: HealthParts): AnswerCall {
  const known = new Set(['', ...services])

  return async (call, reply) => {
    refuseStranger(call, parts.isTrusted)
    const fields = new Fields(wholeOf(await readMessage(call, maxMessageBytes)))
    let service = ''
    while (fields.next()) if (fields.field === 1) service = latin1Of(fields.content())
    if (known.has(service)) {
      replyMessage(reply, encoded(numberField(1, parts.isReady() ? serving : notServing)))
    } else replyStatus(reply, codeOf('notFound'), 'unknown service')
  }
}
