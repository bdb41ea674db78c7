// The reference of all settings, from config/schema.json.
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const prose = (text) => cell(text).replace(/[<*]/g, '\\$&')
const code = (value) => `\`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``

function between(low, high) {
  if (low !== undefined && high !== undefined) return `, ${low} to ${high}`
  if (low !== undefined) return `, at least ${low}`
  return high === undefined ? '' : `, at most ${high}`
}

function typeOf(node) {
  if (node.const !== undefined) return code(node.const)
  if (node.enum !== undefined) return node.enum.map(code).join(', ')
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeOf))].join(' or ')
  if (node.type === 'array') return `list of ${typeOf(node.items).replace(/^section$/, 'sections')}`
  if (node.type === 'object') return node.properties === undefined ? 'section by name' : 'section'
  const { minimum, maximum } = node
  return node.type === 'string' ? 'text' : `${node.type}${between(minimum, maximum)}`
}

/** The sections inside a setting, each with the words that come after its name. */
function inner(node) {
  const named = Object.values(node.patternProperties ?? {})
  const others = typeof node.additionalProperties === 'object' ? [node.additionalProperties] : []
  return [
    ...(node.properties === undefined ? [] : [['', node]]),
    ...(node.items === undefined ? [] : inner(node.items).map(([at, of]) => [`[]${at}`, of])),
    ...(node.anyOf ?? []).flatMap(inner),
    ...[...named, ...others].flatMap((of) => inner(of).map(([at, deep]) => [`.NAME${at}`, deep])),
  ]
}

function rowsOf(path, node) {
  return Object.entries(node.properties).flatMap(([name, of]) => {
    const at = `${path}.${name}`
    const required = node.required?.includes(name) === true && of.default === undefined
    const sections = inner(of)
    const plain = sections.length > 0 && of.type !== 'array'
    const text = (of.description ?? '').replace(/ Default: [^.]*(?:\.\S[^.]*)*\.$/, '')
    const value = required ? 'required' : of.default === undefined || plain ? '' : code(of.default)
    return [
      `| \`${at}\` | ${typeOf(of)} | ${value} | ${prose(text)} |`,
      ...sections.flatMap(([after, deep]) => rowsOf(`${at}${after}`, deep)),
    ]
  })
}

function sectionOf([name, node]) {
  const rows = inner(node).flatMap(([after, deep]) => rowsOf(`${name}${after}`, deep))
  return [
    `## ${name}`,
    '',
    prose(node.description),
    '',
    '| Setting | Value | Default | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ]
}

/** docs/settings.md. */
export function settings(read) {
  const schema = JSON.parse(read('config/schema.json'))
  const lines = [
    '# Settings',
    '',
    'Every setting of the configuration file, from [`config/schema.json`](../config/schema.json), which editors read too. This page is generated.',
    '[How to configure a gateway](configure.md) shows a file, and [Environment variables](environment.md) how a variable sets a value. `postern config print`',
    'shows the active values.',
    '',
    '`[]` stands for an item of a list, `NAME` for a name that you choose. Without a default, the meaning says what "unset" does.',
    '',
    ...Object.entries(schema.properties).flatMap(sectionOf),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}
