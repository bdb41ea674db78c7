import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { statusEnvelopes } from '../http/envelope.ts'
import { envelopeOf, extraHeaders } from '../http/reply-error.ts'
import { Fault, Refusal } from '../kernel/errors.ts'
import type { Log } from '../log/log.ts'
import type { Messages } from '../messages/messages.ts'
import { ClientGone, type ErrorBody, Problem, problemMembers, problemType } from './problem.ts'

/** Replies to a request that failed. The only writer of errors. */
export type ReplyError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

export function createErrorReplies(messages: Messages, log: Pick<Log, 'error'>): ReplyError {
  return (error, request, reply) => {
    const problem = error instanceof Problem ? error : frameworkProblem(error)
    if (problem !== undefined) {
      const { status, message, kind } = problem
      send(reply, { ...problemMembers(status, message, kind), ...errorsOf(message) })
      return
    }
    const envelope = envelopeOf(error, statusEnvelopes)
    const { text, headers } = messages.chosenBy(request.raw.rawHeaders)[envelope.message]
    if (!(error instanceof Refusal || error instanceof Fault || isBrokenOff(error, request))) {
      log.error({ err: error }, 'console request failed')
    }
    for (const [name, value] of pairsOf([...headers, ...extraHeaders(error)])) {
      void reply.header(name, value)
    }
    const kind = kindOf(error)
    send(reply, { ...problemMembers(envelope.status, text, kind), ...errorsOf(text, kind) })
  }
}

/**
 * The client went away: with a log line for each, anyone could fill the log. A store that resets its
 * connection has the same code, so only errors of this request count.
 */
function isBrokenOff(error: unknown, { raw }: FastifyRequest): boolean {
  return error instanceof ClientGone || error === raw.errored
}

function send(reply: FastifyReply, body: ErrorBody): void {
  // As text: fastify would name the type application/json.
  void reply.code(body.status).type(problemType).send(JSON.stringify(body))
}

function errorsOf(message: string, kind?: string): Pick<ErrorBody, 'ok' | 'errors'> {
  return { ok: false, errors: [{ message, ...(kind !== undefined && { kind }) }] }
}

function kindOf(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.kind
  return error instanceof Fault ? error.part : undefined
}

/** What fastify rejects before a handler runs. Its own texts name its internals. */
function frameworkProblem(error: unknown): Problem | undefined {
  const { statusCode, code, validation } = error as Partial<FastifyError>
  if (typeof code !== 'string' || !code.startsWith('FST_') || statusCode === undefined) {
    return undefined
  }
  if (statusCode >= 500) return undefined
  if (validation !== undefined) return new Problem(400, (error as Error).message)
  return new Problem(statusCode, texts[statusCode] ?? 'malformed request')
}

const texts: Readonly<Record<number, string>> = {
  404: 'not found',
  413: 'the body is too large',
  414: 'the address is too long',
  415: 'Content-Type must be application/json',
}

function* pairsOf(list: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < list.length; at += 2) yield [list[at] ?? '', list[at + 1] ?? '']
}
