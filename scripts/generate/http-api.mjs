// The reference of the gateway's own endpoints, from docs/openapi.yaml.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const document = parse(readFileSync('docs/openapi.yaml', 'utf8'))
const words = (text = '') => text.trim().replaceAll(/\s*\n\s*/g, ' ')
const cell = (text) => words(text).replaceAll('|', '\\|')
const code = (value) => `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``

function resolved(node) {
  if (node?.$ref === undefined) return node
  return resolved(
    node.$ref
      .slice(2)
      .split('/')
      .reduce((at, name) => at[name], document),
  )
}

const anchor = (name) => name.toLowerCase()

/** What a value looks like, in a few words. A schema with a name has a heading of its own below. */
function typeOf(schema = {}) {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  if (name !== undefined) return `[${name}](#${anchor(name)})`
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ')
  const several = schema.oneOf ?? schema.anyOf
  if (several !== undefined) return [...new Set(several.map(typeOf))].join(' or ')
  if (schema.allOf !== undefined) return typeOf(schema.allOf[0])
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (schema.properties !== undefined) return Object.keys(schema.properties).map(code).join(', ')
  return [schema.type ?? 'any', schema.format].filter(Boolean).join(', ')
}

function bodyOf({ content = {} }) {
  return Object.entries(content)
    .map(([type, { schema }]) => `${code(type)}: ${typeOf(schema)}`)
    .join('; ')
}

function fieldsOf(schema) {
  return Object.entries(schema.properties ?? {}).map(([name, value]) => {
    const needed = schema.required?.includes(name) ? 'yes' : ''
    const text = cell(value.description ?? resolved(value).description ?? '')
    return `| \`${name}\` | ${needed} | ${typeOf(value)} | ${text} |`
  })
}

function operationOf(path, method, operation) {
  const parameters = (operation.parameters ?? []).map(resolved)
  const open = operation.security?.length === 0
  const token = open ? [] : ['Needs a token.']
  const about = [operation.summary, operation.description, ...token].map(words).filter(Boolean)
  const body = operation.requestBody === undefined ? undefined : resolved(operation.requestBody)
  return [
    `### ${method.toUpperCase()} ${path}`,
    '',
    about.join(' '),
    '',
    ...(parameters.length === 0
      ? []
      : [
          '| Parameter | In | Required | Value | Meaning |',
          '|---|---|---|---|---|',
          ...parameters.map(
            ({ name, in: place, required, schema, description }) =>
              `| \`${name}\` | ${place} | ${required ? 'yes' : ''} | ${typeOf(schema)} | ${cell(description)} |`,
          ),
          '',
        ]),
    ...(body === undefined ? [] : [`Body: ${bodyOf(body)}.`, '']),
    '| Status | Meaning | Body |',
    '|---|---|---|',
    ...Object.entries(operation.responses).map(([status, answer]) => {
      const { description, ...rest } = resolved(answer)
      return `| ${status} | ${cell(description)} | ${bodyOf(rest)} |`
    }),
    '',
  ]
}

function variantsOf(schema) {
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return variants.flatMap((one) => variantsOf(resolved(one)))
  const rows = fieldsOf(schema)
  if (rows.length === 0) return []
  const text = words(schema.description)
  return [
    ...(text === '' ? [] : [text, '']),
    '| Field | Required | Value | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ]
}

function schemaOf([name, schema]) {
  const variants = schema.anyOf ?? schema.oneOf
  const text = words(schema.description)
  return [
    `### ${name}`,
    '',
    ...(variants !== undefined && text !== '' ? [text, ''] : []),
    ...(schema.properties === undefined && variants === undefined
      ? [`${text} Value: ${typeOf(schema)}.`.trim(), '']
      : variantsOf(schema)),
  ]
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete']
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  methods.filter((method) => method in item).map((method) => [path, method, item[method]]),
)
const titles = { public: 'Public port', ops: 'Ops port', 'forward-auth': 'Forward-auth port' }
/** docs/http-api.md. */
export function httpApi() {
  const { info } = document
  const lines = [
    '# HTTP API',
    '',
    'The endpoints that Postern answers itself, from [openapi.yaml](openapi.yaml) (OpenAPI 3.1), which a test compares with a running gateway. This page is',
    'generated. The console has a [management API](management-api.md) of its own.',
    '',
    ...info.description
      .trim()
      .split('\n')
      .map((line) => line.replace(/docs\/(refusals\.md)/, '[$1]($1)')),
    '',
    ...document.tags.flatMap(({ name, description }) => [
      `## ${titles[name]}`,
      '',
      words(description),
      '',
      ...operations
        .filter(([, , { tags }]) => tags.includes(name))
        .flatMap((operation) => operationOf(...operation)),
    ]),
    '## Bodies',
    '',
    ...Object.entries(document.components.schemas).flatMap(schemaOf),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}
