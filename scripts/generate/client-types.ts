/** The types of `postern/client`, from the OpenAPI document of the management API. */

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly 'x-extensible-enum'?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
}

interface Media {
  readonly schema?: Schema
}

interface Call {
  readonly summary: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Media } }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>>; readonly $ref?: string }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export function clientTypes(document: object): string {
  const { paths, components } = document as Document
  const calls = Object.entries(paths).filter(([path]) => !path.includes('{'))
  const named = Object.entries(components.schemas).map(([name, schema]) =>
    declaration(name, schema),
  )
  const table = (name: string, about: string, members: readonly string[]) =>
    `/** ${about} */\nexport interface ${name} {\n${members.join('\n')}\n}\n`
  return [
    '// Written by "npm run generate" from the schemas of the management API.\n',
    ...named,
    table(
      'Questions',
      'What `get` asks, by path.',
      calls.flatMap(([path, { get }]) => (get === undefined ? [] : entry(path, get))),
    ),
    table(
      'Posts',
      'What `post` sends, by path: logins, questions about drafts, and changes.',
      calls.flatMap(([path, { post }]) => (post === undefined ? [] : entry(path, post))),
    ),
    table(
      'Streams',
      'What `open` follows, by path.',
      calls.flatMap(([path, { get }]) => {
        const events = get?.responses['200']?.content?.['text/event-stream']?.schema
        return events === undefined ? [] : [`  readonly '${path.slice(1)}': ${typeOf(events, 1)}`]
      }),
    ),
  ].join('\n')
}

function declaration(name: string, schema: Schema): string {
  const text = typeOf(schema, 0)
  const about = comment(schema.description, 0)
  if (schema.type === 'object' && text.startsWith('{'))
    return `${about}export interface ${name} ${text}\n`
  return `${about}export type ${name} = ${text}\n`
}

/** What one call takes and answers; nothing for a stream or a recording. */
function entry(path: string, call: Call): readonly string[] {
  const content = call.responses['200']?.content ?? {}
  const json = content['application/json']
  if (json === undefined) return []
  const formats = Object.entries(textTypes).flatMap(([type, format]) =>
    content[type] === undefined ? [] : [`'${format}'`],
  )
  const found = [
    `  readonly '${path.slice(1)}': {`,
    `    readonly input: ${typeOf(inputOf(call), 2)}`,
    `    readonly document: ${json.schema === undefined ? 'unknown' : typeOf(withoutErrors(json.schema), 2)}`,
    ...(formats.length === 0 ? [] : [`    readonly formats: ${formats.join(' | ')}`]),
    '  }',
  ]
  return [`${comment(call.summary, 1)}${found.join('\n')}`]
}

const textTypes = { 'text/plain': 'text', 'text/csv': 'csv', 'application/jsonl': 'jsonl' }

/** Parameters or body, without the format, which the method of the client decides. */
function inputOf({ parameters = [], requestBody }: Call): Schema {
  const body = requestBody?.content['application/json'].schema
  const properties = Object.fromEntries([
    ...Object.entries(body?.properties ?? {}),
    ...parameters.map(({ name, description, schema }) => [
      name,
      { ...schema, ...(description !== undefined && { description }) },
    ]),
  ])
  const { output: _, ...own } = properties
  const required = parameters.flatMap((each) => (each.required === true ? [each.name] : []))
  if (body?.$ref !== undefined) return body
  return { type: 'object', properties: own, required: [...(body?.required ?? []), ...required] }
}

/** The client throws these. */
function withoutErrors(schema: Schema): Schema {
  const [first, second, ...others] = schema.anyOf ?? []
  const isPair = first !== undefined && others.length === 0
  return isPair && second?.$ref === '#/components/schemas/Errors' ? first : schema
}

function typeOf(schema: Schema, depth: number): string {
  const { $ref, anyOf, type } = schema
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '')
  if (anyOf !== undefined) return [...new Set(anyOf.map((each) => typeOf(each, depth)))].join(' | ')
  if (schema.const !== undefined) return literal(schema.const)
  const words = schema.enum ?? schema['x-extensible-enum']
  if (words !== undefined) return words.map(literal).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return listOf(schema.items ?? {}, depth)
    case 'object':
      return objectOf(schema, depth)
    case undefined:
      return 'unknown'
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`)
  }
}

function listOf(items: Schema, depth: number): string {
  const item = typeOf(items, depth)
  const isUnion = (items.anyOf ?? items.enum ?? items['x-extensible-enum']) !== undefined
  return `readonly ${isUnion ? `(${item})` : item}[]`
}

function objectOf(schema: Schema, depth: number): string {
  const [record] = Object.values(schema.patternProperties ?? {})
  if (record !== undefined) return `Readonly<Record<string, ${typeOf(record, depth)}>>`
  const { properties = {}, required = [] } = schema
  const space = '  '.repeat(depth + 1)
  const members = Object.entries(properties).map(([name, each]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
    const mark = required.includes(name) ? '' : '?'
    const about = each.$ref === undefined ? comment(each.description, depth + 1) : ''
    return `${about}${space}readonly ${key}${mark}: ${typeOf(each, depth + 1)}${mark && ' | undefined'}`
  })
  if (schema.additionalProperties === true)
    members.push(`${space}readonly [member: string]: unknown`)
  if (members.length === 0) return 'Readonly<Record<string, never>>'
  return `{\n${members.join('\n')}\n${'  '.repeat(depth)}}`
}

function comment(text: string | undefined, depth: number): string {
  return text === undefined ? '' : `${'  '.repeat(depth)}/** ${text.replaceAll('*/', '*\\/')} */\n`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)
}
