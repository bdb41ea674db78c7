import { Errors } from 'typebox/schema'
import { findCommand } from '../../src/cli/commands/table.ts'

/**
 * Throws when the JSON document that an operation answered differs from the schema that it promises.
 * `path` names the operation as the management API does; there may be none.
 */
export async function checkDocument(
  path: string,
  text: string,
  exitCode: string | undefined | null,
  contentType = 'application/json',
): Promise<void> {
  const name = /^(?:[a-z]+\/)?[a-z]+/.exec(path)?.[0].replace('/', ' ') ?? ''
  const { document: own, plan } = (await findCommand(name))?.operation?.operation ?? {}
  // A review has the same path as its change.
  const schema = plan === undefined ? own : { anyOf: [own, plan] }
  if (own === undefined || !isAnswer(exitCode) || !/^[[{]/.test(text)) return
  if (!/^application\/(problem\+)?json/.test(contentType)) return
  const answer: unknown = JSON.parse(text)
  const document = contentType.includes('problem') ? withoutProblem(answer as Problem) : answer
  if (exitCode !== '0' && isFailure(document)) return
  checkSchema(name, schema, JSON.stringify(document))
}

/** Throws when a JSON document has not this schema, or a member or word that it does not name. */
export function checkSchema(name: string, schema: unknown, text: string): void {
  const [, errors] = Errors(closed(schema) as object, JSON.parse(text))
  if (errors.length === 0) return
  const found = errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
  throw new Error(`${name} answers what its schema does not have: ${found.join('; ')}\n${text}`)
}

interface Problem {
  readonly [member: string]: unknown
}

/** What the operation answered, without the members that the API adds to an error. */
function withoutProblem({ type: _, title: __, status: ___, detail: ____, ...document }: Problem) {
  return document
}

function isAnswer(exitCode: string | undefined | null): boolean {
  return exitCode === '0' || exitCode === '1' || exitCode === '4' || exitCode === '5'
}

function isFailure(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'errors' in document
}

/** Clients accept new members and words; the tests do not, so that the schema has every one. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)] as const)
  const isObject = 'properties' in schema && !('additionalProperties' in schema)
  const { 'x-extensible-enum': words, ...known } = Object.fromEntries(parts)
  return {
    ...known,
    ...(isObject && { additionalProperties: false }),
    ...(Array.isArray(words) && { enum: words }),
  }
}
