import { readFileSync } from 'node:fs'
import { Check, Errors } from 'typebox/schema'
import { parse } from 'yaml'

type Node = Readonly<Record<string, unknown>>

/** One operation of an OpenAPI document, with every reference resolved. */
export interface DocumentedOperation {
  /** `POST /api/v1/login` */
  readonly name: string
  readonly tags: readonly string[]
  readonly needsToken: boolean
  readonly statuses: readonly string[]
  /** What is wrong with an answer by the document; empty for one that fits. */
  misfits(answer: DocumentedAnswer): readonly string[]
  /** Whether this is a body that clients are told to send. */
  acceptsBody(body: unknown): boolean
}

export interface DocumentedAnswer {
  readonly status: number
  readonly body: string
  header(name: string): string | undefined
}

/** Every operation of this document. */
export function documentedOperations(file: string): readonly DocumentedOperation[] {
  const root = parse(readFileSync(file, 'utf8')) as Node
  const paths = Object.entries(resolved(root['paths'], root) as Record<string, Node>)
  return paths.flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'servers')
      .map(([method, operation]) =>
        toOperation(`${method.toUpperCase()} ${path}`, operation, root),
      ),
  )
}

function toOperation(name: string, operation: unknown, root: Node): DocumentedOperation {
  const { tags, security, responses, requestBody } = operation as {
    readonly tags: readonly string[]
    readonly security?: readonly unknown[]
    readonly responses: Readonly<Record<string, Node>>
    readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Node }>> }
  }
  const bodySchema = requestBody?.content['application/json']?.schema
  return {
    name,
    tags,
    needsToken: (security ?? (root['security'] as readonly unknown[])).length > 0,
    statuses: Object.keys(responses),
    acceptsBody: (body) => bodySchema !== undefined && Check(bodySchema, body),
    misfits(answer) {
      const response = responses[String(answer.status)]
      return response === undefined ? ['the status is missing'] : misfitsOf(response, answer)
    },
  }
}

function misfitsOf(response: Node, answer: DocumentedAnswer): readonly string[] {
  const headers = Object.entries((response['headers'] ?? {}) as Record<string, Node>)
  const wrong = headers.flatMap(([name, { required, schema }]) => {
    const value = answer.header(name.toLowerCase())
    if (value === undefined) return required === true ? [`${name} is missing`] : []
    return Check(schema as Node, value) ? [] : [`${name}: ${value}`]
  })
  const content = response['content'] as Readonly<Record<string, { schema: Node }>> | undefined
  if (content === undefined) return answer.body === '' ? wrong : [...wrong, 'a body']

  const [type = ''] = (answer.header('content-type') ?? '').split(';')
  const documented = content[type]
  if (documented === undefined) return [...wrong, `the content type is ${type}`]
  const body = type.endsWith('json') ? JSON.parse(answer.body) : answer.body
  const [, errors] = Errors(documented.schema, body)
  return [...wrong, ...errors.map(({ message, instancePath }) => `${instancePath} ${message}`)]
}

/** The same with every `$ref` replaced by what it refers to. No schema of ours refers to itself. */
function resolved(node: unknown, root: Node): unknown {
  if (Array.isArray(node)) return node.map((item) => resolved(item, root))
  if (typeof node !== 'object' || node === null) return node
  const { $ref } = node as { readonly $ref?: string }
  if ($ref !== undefined) return resolved(target($ref, root), root)
  return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, resolved(each, root)]))
}

function target(reference: string, root: Node): unknown {
  const found = reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((node, key) => (node as Node | undefined)?.[key], root)
  if (found === undefined) throw new Error(`no such reference: ${reference}`)
  return found
}
