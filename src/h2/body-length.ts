import { MalformedMessage, type RequestFields, type ResponseFields } from './message-fields.ts'
import type { Stream } from './stream.ts'

/* A body that differs from its Content-Length must never look complete (RFC 9113 8.1.1). */

/** A request begins. Throws if it ends too early. */
export function checkRequestEnd({ contentLength }: RequestFields, endStream: boolean): void {
  if (endStream && (contentLength ?? 0) > 0) throw differs()
}

/** The final response begins. Throws if it ends too early. */
export function beginResponseBody(
  stream: Stream,
  { status, contentLength }: ResponseFields,
  endStream: boolean,
): void {
  if (status === 204 || status === 304) stream.isBodyless = true
  if (!stream.isBodyless) stream.bodyLeft = contentLength
  if (endStream && (stream.bodyLeft ?? 0) > 0) throw differs()
}

/** A DATA frame begins. Throws if the body becomes too long, or ends too early. */
export function checkData({ isBodyless, bodyLeft }: Stream, bytes: number, isLast: boolean): void {
  if (isBodyless && bytes > 0) throw new MalformedMessage('body where none is allowed')
  if (bodyLeft === undefined) return
  if (bytes > bodyLeft || (isLast && bytes < bodyLeft)) throw differs()
}

/** Trailers follow. Throws if the body is too short. */
export function checkTrailers({ bodyLeft }: Stream): void {
  if (bodyLeft !== undefined && bodyLeft > 0) throw differs()
}

/** Whether a response has all that its head announced, so that only END_STREAM is missing. */
export function hasWholeResponse({ hasHead, isBodyless, bodyLeft }: Stream): boolean {
  return hasHead && (isBodyless || bodyLeft === 0)
}

function differs(): MalformedMessage {
  return new MalformedMessage('body length differs from Content-Length')
}
