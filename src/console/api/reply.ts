import type { FastifyReply } from 'fastify'
import { exitCodes } from '../../cli/exit-codes.ts'
import { json } from '../../cli/format.ts'
import { formatProblem } from '../../kernel/errors.ts'
import type { Ending, Failure } from '../../operations/failure.ts'
import { answeredType } from '../../operations/offered/answer-call.ts'
import { Problem, problemMembers, problemType } from '../problem.ts'
import type { CallResult } from './perform.ts'

/** An answer, also "no", is a success. */
const statuses: Readonly<Record<Exclude<Ending, 'bug'>, number>> = {
  done: 200,
  no: 200,
  usage: 400,
  invalid: 422,
  testsFailed: 200,
  unavailable: 503,
}

const types: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  text: 'text/plain; charset=utf-8',
}

/** Sends an answer. Throws a `Problem` when there is none for the caller. */
export function sendResult(
  reply: FastifyReply,
  { ending, body, failure, isTooLong }: CallResult,
  { name, output }: { readonly name: string; readonly output: string | object },
): FastifyReply {
  if (isTooLong) throw new Problem(507, 'the answer is too long: ask for less')
  if (ending === 'bug') throw new Problem(500, 'a bug in Postern: its log has the details')
  const status = failure?.kind === 'not-permitted' ? 403 : statuses[ending]
  void reply.code(status).header('Postern-Exit-Code', String(exitCodes[ending]))
  if (typeof output !== 'string') return reply.type(answeredType).send(body)
  if (status !== 200) {
    if (ending === 'usage' || body === '') throw new Problem(status, messageOf(failure))
    if (output === 'json') return reply.type(problemType).send(asProblem(status, JSON.parse(body)))
  }
  if (output === 'csv') {
    const file = `${name.replaceAll(' ', '-')}.csv`
    void reply.header('Content-Disposition', `attachment; filename="${file}"`)
  }
  return reply.type(types[output] ?? 'text/plain').send(body)
}

/** What a call answered in place of its document, with the members that every error has. */
function asProblem(status: number, document: Readonly<Record<string, unknown>>): string {
  const [first] = Array.isArray(document['errors']) ? document['errors'] : []
  const { message = 'the answer has the reasons', kind } = (first ?? {}) as FirstError
  return json({ ...document, ...problemMembers(status, message, kind) })
}

interface FirstError {
  readonly message?: string
  readonly kind?: string
}

/** Names the field as callers write it. */
function messageOf(failure: Failure | undefined): string {
  if (failure === undefined) return 'the answer has the reasons'
  switch (failure.kind) {
    case 'refused':
      return 'the answer has the reasons'
    case 'invalid':
      return failure.problems.map(formatProblem)[0] ?? ''
    case 'invalid-input':
      return failure.field === undefined ? failure.message : `${failure.field}: ${failure.message}`
    default:
      return failure.message
  }
}
