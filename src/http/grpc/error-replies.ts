import {
  createErrorReplies,
  type FindErrorResponse,
  keepOrClose,
  type ReplyError,
} from '../reply-error.ts'
import { grpcTypeOf } from './grpc-call.ts'
import { codeOfError } from './status.ts'

/**
 * Answers a refused gRPC call with a trailers-only response: HTTP 200, the status and the message in
 * the headers, and no body. gRPC clients do not read the body of any other response. Requests that are
 * not gRPC get JSON. Not for the forward-auth port: a proxy takes HTTP 200 as permission.
 */
export function createPublicErrorReplies(find: FindErrorResponse): ReplyError {
  const replyJson = createErrorReplies(find)

  return (error, to) => {
    const { request, reply, requestId } = to
    const type = grpcTypeOf(request)
    if (type === undefined || reply.headersSent) return replyJson(error, to)

    const { envelope, message, extra } = find(error, request.rawHeaders, requestId)
    keepOrClose(request, reply, envelope)
    reply.writeHead(200, [
      'content-type',
      type,
      'grpc-status',
      String(codeOfError(error)),
      'grpc-message',
      encodeMessage(message.text),
      // Other clients find it in the body.
      ...(envelope.isBare || requestId === undefined ? [] : ['x-request-id', requestId]),
      'cache-control',
      'no-store',
      ...(request.httpVersion === '2' ? [] : ['content-length', '0']),
      ...message.headers,
      ...extra,
    ])
    reply.end()
  }
}

/** gRPC over HTTP/2, Status-Message: UTF-8, with everything but printable ASCII percent-encoded. */
function encodeMessage(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
    encoded += isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
