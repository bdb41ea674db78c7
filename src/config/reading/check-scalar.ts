import { quote } from '../../kernel/quote.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { formOf } from '../schema/patterns.ts'
import type { Setting } from '../schema/setting.ts'
import type { Tree } from './tree.ts'

type Scalar = string | number | boolean

/**
 * What is wrong with one value under its setting, and what to write instead; nothing when it fits.
 * `quotes` says whether the message may quote a text.
 */
export function checkScalar(setting: Setting, tree: Tree, quotes: boolean): string | undefined {
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

function mustBe(setting: Setting, given: string): string {
  return `must be ${expected(setting)}, not ${given}`
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
