import type { Arrival } from '../gateway/arrival/arrival.ts'
import { keepOrClose, type ReplyError } from './reply-error.ts'

interface ErrorPage {
  readonly status: number
  readonly headers: readonly string[]
  readonly text: string
}

/** A refusal or a fault for a person. `undefined`: the client is no browser that opens a page. */
export type FindErrorPage = (
  error: unknown,
  arrival: Arrival,
  requestId: string | undefined,
) => ErrorPage | undefined

/** Sends browsers the page that `find` has for them. Others get `replyOther`. */
export function createPageReplies(find: FindErrorPage, replyOther: ReplyError): ReplyError {
  return (error, to) => {
    const { request, reply, requestId, arrival } = to
    const page = arrival && !reply.headersSent ? find(error, arrival, requestId) : undefined
    if (page === undefined) return replyOther(error, to)
    keepOrClose(request, reply, page)
    reply.writeHead(page.status, [...page.headers])
    reply.end(page.text, 'utf8')
  }
}
