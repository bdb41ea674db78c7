import { quote } from '../../kernel/quote.ts'
import { didYouMean, nearest } from '../../kernel/suggest.ts'
import { formOf } from '../schema/patterns.ts'
import {
  formFor,
  joinPath,
  namedSettings,
  patternEntries,
  type Setting,
  settingPaths,
} from '../schema/setting.ts'
import type { Report } from './report.ts'
import { isEmpty, type Tree } from './tree.ts'

/**
 * The value of a tree under a schema, with every default filled in. A value that does not fit is
 * reported and left out, so that the checks after this one can still look at the rest.
 */
export function applySchema(
  setting: Setting,
  tree: Tree | undefined,
  report: Report,
  path = '',
  quotes = true,
): unknown {
  if (tree !== undefined) report.remember(path, tree.place)

  const list = formFor(setting, 'array')
  if (list !== undefined && tree?.kind === 'list') {
    return applyList(list, tree, report, path, quotes)
  }
  const map = formFor(setting, 'object')
  const isAbsent = setting.default !== undefined && (tree === undefined || isEmpty(tree))
  if (map !== undefined && (tree?.kind === 'map' || isAbsent)) {
    return applyMap(map, tree, report, path)
  }
  if (setting.type === 'object') return applyMap(setting, tree, report, path)
  if (setting.type === 'array') return applyList(setting, tree, report, path, quotes)
  if (tree === undefined) return setting.default

  const problem = checkScalar(setting, tree, quotes)
  if (problem === undefined && tree.kind === 'scalar') return tree.value
  report.problem(path, `: ${problem}`)
  return setting.default
}

function applyMap(setting: Setting, tree: Tree | undefined, report: Report, path: string) {
  const node = tree === undefined || isEmpty(tree) ? undefined : tree
  if (node !== undefined && node.kind !== 'map') {
    const kind = node.kind === 'list' ? 'a list' : 'a single value'
    report.problem(path, `${path ? ':' : 'the file'} must be a mapping (key: value), not ${kind}`)
  }
  const entries = node?.kind === 'map' ? node.entries : new Map<string, never>()
  const custom = patternEntries(setting)
  // `timeout: 5` and an indented line `secret:abc` are one text to YAML: do not quote beside a secret.
  const quotes = !namedSettings(setting).some(([, child]) => child.writeOnly)
  const value: Record<string, unknown> = {}

  for (const [key, entry] of entries) {
    const childPath = joinPath(path, key)
    if (custom?.pattern.test(key)) {
      value[key] = applySchema(custom.schema, entry.tree, report, childPath)
    } else if (custom) report.problemAt(entry.place, badName(custom.pattern, path, key))
    else if (!Object.hasOwn(setting.properties ?? {}, key)) {
      report.problemAt(entry.place, unknownKey(setting, path, key))
    }
  }

  for (const [key, child] of namedSettings(setting)) {
    const entry = entries.get(key)
    const childPath = joinPath(path, key)
    const needed = child.default === undefined && setting.required?.includes(key)
    if (entry === undefined && needed) {
      if (!report.hasProblem(path)) {
        report.problem(childPath, ` is required. ${firstSentence(child)}`)
      }
      continue
    }
    // An optional section that is absent stays absent: its defaults apply once it is written.
    if (entry === undefined && child.type === 'object' && child.default === undefined) continue
    const childValue = applySchema(child, entry?.tree, report, childPath, quotes)
    if (childValue !== undefined) value[key] = childValue
  }
  return Object.freeze(value)
}

function applyList(
  setting: Setting,
  tree: Tree | undefined,
  report: Report,
  path: string,
  quotes: boolean,
) {
  const node = tree === undefined || (isEmpty(tree) && setting.default) ? undefined : tree
  if (node === undefined) return Object.freeze(structuredClone(setting.default))
  if (node.kind !== 'list') {
    const kind = node.kind === 'map' ? 'a mapping' : 'a single value'
    report.problem(path, `: must be a list (- value), not ${kind}`)
    return Object.freeze(structuredClone(setting.default))
  }

  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = setting
  const { length } = node.items
  if (length < minItems) report.problem(path, ': must have at least one entry')
  if (length > maxItems) {
    report.problem(path, `: must have at most ${maxItems} entries, not ${length}`)
  }

  const values = node.items.map((item, index) =>
    applySchema(items, item, report, joinPath(path, index), quotes),
  )
  if (setting.uniqueItems) {
    values.forEach((value, index) => {
      const first = values.indexOf(value)
      if (value === undefined || first === index) return
      const itemPath = joinPath(path, index)
      report.problem(itemPath, `: duplicate of ${joinPath(path, first)}; remove one`)
    })
  }
  return Object.freeze(values)
}

function unknownKey(setting: Setting, path: string, key: string): string {
  const named = namedSettings(setting)
  const known = named.map(([name]) => name)
  const meant = nearest(key, known)
  const elsewhere = settingPaths().filter((other) => other.endsWith(`.${key}`))
  const likely = meant === undefined ? elsewhere : [joinPath(path, meant)]

  // `{ secret:abc }` is one key to YAML: beside a secret, an unknown key may be the secret itself.
  const maybeSecret = likely.length === 0 && named.some(([, child]) => child.writeOnly)
  const shown = maybeSecret || !isPlainKey(key) ? '' : ` ${joinPath(path, key)}`
  if (likely.length > 0) return `unknown setting${shown}; did you mean ${likely.join(' or ')}?`
  return `unknown setting${shown}; ${path || 'the top level'} has ${known.join(', ')}`
}

function badName(pattern: RegExp, path: string, key: string): string {
  const use = `use ${formOf(pattern.source) ?? 'another name'}`
  if (!isPlainKey(key)) return `${path}: ${use}`
  const near = key.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const hint = pattern.test(near) ? `; did you mean ${near}?` : ''
  return `${joinPath(path, key)}: ${use}${hint}`
}

/** Whether a message may quote the key: any other text may be a misplaced value. */
function isPlainKey(key: string): boolean {
  return /^\w[\w-]{0,39}$/.test(key)
}

function firstSentence({ description = '' }: Setting): string {
  return /^.*?\.(?= [A-Z]|$)/.exec(description)?.[0] ?? description
}

type Scalar = string | number | boolean

/**
 * What is wrong with one value under its setting, and what to write instead; nothing when it fits.
 * `quotes` says whether the message may quote a text.
 */
function checkScalar(setting: Setting, tree: Tree, quotes: boolean): string | undefined {
  if (tree.kind !== 'scalar') return mustBe(setting, tree.kind === 'map' ? 'a mapping' : 'a list')

  const { value } = tree
  if (value === null) return `has no value; set ${expected(setting)}, or remove the line`
  const isHidden = setting.writeOnly || (!quotes && typeof value === 'string')
  const quoted = isHidden ? undefined : quote(value)
  const shown = quoted ?? (typeof value === 'string' ? 'text' : `a ${typeof value}`)

  if (setting.anyOf !== undefined) {
    const fits = setting.anyOf.some((one) => checkScalar(one, tree, quotes) === undefined)
    return fits ? undefined : mustBe(setting, shown)
  }
  if (setting.type === 'array' || setting.type === 'object') return mustBe(setting, shown)
  if (setting.const !== undefined) {
    return value === setting.const ? undefined : mustBe(setting, shown)
  }
  if (setting.enum !== undefined) {
    if (setting.enum.includes(value as string | number)) return undefined
    return `${mustBe(setting, shown)}${didYouMean(String(value), setting.enum.map(String))}`
  }
  if (setting.type === 'boolean') {
    return typeof value === 'boolean' ? undefined : mustBe(setting, shown)
  }
  if (setting.type === 'integer') {
    return isIntegerWithin(setting, value) ? undefined : mustBe(setting, shown)
  }
  if (typeof value !== 'string') return `must be text, not ${shown}; put it in quotes`
  return checkText(setting, value, quoted)
}

function isIntegerWithin({ minimum = -Infinity, maximum = Infinity }: Setting, value: Scalar) {
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum
  )
}

function checkText(setting: Setting, value: string, quoted: string | undefined) {
  const { minLength = 0, maxLength = Infinity, pattern } = setting
  // JSON Schema counts code points, not UTF-16 units.
  const length = [...value].length
  if (length === 0 && minLength > 0) return 'must not be empty'
  if (length < minLength || length > maxLength) {
    return `must be ${minLength} to ${maxLength} characters long`
  }
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined
  const hint = quoted === undefined ? '' : likely(value, pattern)
  return `${quoted ?? 'the value'} is not valid; use ${expected(setting)}${hint}`
}

/** The text in lower case and without a trailing slash, where that is valid. */
function likely(value: string, pattern: string): string {
  const near = value.toLowerCase().replace(/\/+$/, '')
  return near !== value && new RegExp(pattern, 'u').test(near) ? `; did you mean ${near}?` : ''
}

function mustBe(setting: Setting, value: string): string {
  return `must be ${expected(setting)}, not ${value}`
}

function expected({ anyOf, const: only, enum: names, ...setting }: Setting): string {
  const { type, minimum, maximum, pattern } = setting
  if (anyOf !== undefined) return anyOf.map(expected).join(', or ')
  if (only !== undefined) return String(only)
  if (names !== undefined) return `one of ${names.join(', ')}`
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`
  if (type === 'boolean') return 'true or false'
  if (type === 'array') return 'a list'
  if (type === 'object') return 'a mapping'
  return (pattern === undefined ? undefined : formOf(pattern)) ?? 'text'
}
