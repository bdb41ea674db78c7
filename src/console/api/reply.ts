import type { FastifyReply } from 'fastify'
import type { Printed } from '../../cli/command.ts'
import { exitCodes } from '../../cli/exit-codes.ts'
import { json } from '../../cli/format.ts'
import { Problem, problemMembers, problemType } from '../problem.ts'
import { tooLong } from './call-command.ts'

/** The status for each exit code: an answer, also "no", is a success. */
const statuses: Readonly<Record<number, number>> = {
  [exitCodes.done]: 200,
  [exitCodes.no]: 200,
  [exitCodes.usage]: 400,
  [exitCodes.invalid]: 422,
  [exitCodes.testsFailed]: 200,
  [exitCodes.unavailable]: 503,
}

const types: Readonly<Record<string, string>> = {
  json: 'application/json; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  text: 'text/plain; charset=utf-8',
}

/** The client asks for all that a command prints, as `postern --gateway` does. */
const printedType = 'application/vnd.postern.printed+json'

interface Asked {
  readonly output: string
  /** Of the command. */
  readonly name: string
  readonly accept: string | undefined
}

/** Sends what a command printed. Throws a `Problem` when that is not for its caller. */
export function sendPrinted(reply: FastifyReply, printed: Printed, asked: Asked): FastifyReply {
  const { code, out, err, isForbidden = false } = printed
  const { output, name, accept } = asked
  if (code === tooLong) throw new Problem(507, 'the answer is too long: ask for less of it')
  const status = isForbidden ? 403 : statuses[code]
  if (status === undefined) throw new Problem(500, 'a bug in Postern: its log has the details')
  void reply.code(status).header('Postern-Exit-Code', String(code))
  if (accept === printedType) return reply.type(printedType).send(json({ code, out, err }))
  if (status !== 200) {
    if (out === '') throw new Problem(status, firstLine(err))
    if (output === 'json') return reply.type(problemType).send(asProblem(status, JSON.parse(out)))
  }
  if (output === 'csv') {
    const file = `${name.replaceAll(' ', '-')}.csv`
    void reply.header('Content-Disposition', `attachment; filename="${file}"`)
  }
  return reply.type(types[output] ?? 'text/plain').send(out)
}

/** What a command printed in place of an answer, with the members that every error has. */
function asProblem(status: number, printed: Readonly<Record<string, unknown>>): string {
  const [first] = Array.isArray(printed['errors']) ? printed['errors'] : []
  const { message = 'the answer has the reasons', kind } = (first ?? {}) as FirstError
  return json({ ...printed, ...problemMembers(status, message, kind) })
}

interface FirstError {
  readonly message?: string
  readonly kind?: string
}

/** A usage error, without the lines that help at a terminal. */
function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/^postern: /, '')
}
