import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { checkSchema } from './check-document.ts'

interface Schema {
  readonly $ref?: string
  readonly [keyword: string]: unknown
}

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, Response> }>>>
  >
}

const document: Document = parse(readFileSync('docs/console-openapi.yaml', 'utf8'))

const prefix = '/console/api/v1/'

/** An answer of the management API. */
interface Answer {
  /** Method and path below `/console/api/v1`, such as `GET policy/who?path=/`. */
  readonly line: string
  readonly status: number
  readonly contentType: string | undefined
  readonly body: string
}

/** Throws when `docs/console-openapi.yaml` does not have this answer, or another schema for it. */
export function checkResponse({ line, status, contentType = '', body }: Answer): void {
  const [method = '', target = ''] = line.split(' ')
  if (target.startsWith('/') && !target.startsWith(prefix)) return
  const path = `/${target.replace(prefix, '').replace(/\?.*/, '')}`
  const type = contentType.split(';', 1)[0] ?? ''
  // Not for other programs than `postern --gateway`, and an answer without a body.
  if (type === 'application/vnd.postern.answered+json' || method === 'HEAD') return
  const described = pathOf(path)?.[method.toLowerCase()]?.responses
  const response = described?.[status] ?? described?.['default'] ?? unknownPath
  const { content = {} } = response.$ref === undefined ? response : resolve<Response>(response.$ref)
  if (status < 300 && described === undefined) {
    // Routes that tests add.
    if (path.startsWith('/probe/')) return
    throw new Error(`${line} is not described`)
  }
  if (status >= 300 && status < 400 && Object.keys(content).length === 0) return
  const found = content[type]
  if (found === undefined) throw new Error(`${line} answers ${status} ${type || 'without a type'}`)
  if (!type.endsWith('json') || found.schema === undefined) return
  checkSchema(`${line} (${status})`, inlined(found.schema), body)
}

/** What is not described has errors as everything else. */
const unknownPath: Response = { $ref: '#/components/responses/Problem' }

function pathOf(path: string) {
  const { paths } = document
  const provider = path.replace(/^(\/login\/oidc\/)[^/]+/, '$1{provider}')
  return paths[path] ?? paths[provider]
}

/** The same without references. */
function inlined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inlined)
  if (typeof value !== 'object' || value === null) return value
  const { $ref } = value as Schema
  if (typeof $ref === 'string') return inlined(resolve($ref))
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inlined(each)]))
}

function resolve<Found>(reference: string): Found {
  const names = reference.replace('#/', '').split('/')
  return names.reduce<unknown>((at, name) => Object(at)[name], document) as Found
}
