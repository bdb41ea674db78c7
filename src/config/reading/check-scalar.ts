import { didYouMean } from '../../suggest.ts'
import type { Setting } from '../schema/setting.ts'
import type { Tree } from './tree.ts'

/**
 * What is wrong with one value under its setting, as the rest of a sentence that begins with the
 * setting's name; nothing when it fits. Never quotes the value: it may be a secret.
 */
export function checkScalar(setting: Setting, tree: Tree): string | undefined {
  if (tree.kind !== 'scalar') return `must be ${expected(setting)}, not a ${nameOf(tree)}`

  const { value } = tree
  if (value === null) return `is empty: write ${expected(setting)}, or leave it out`

  if (setting.anyOf !== undefined) {
    const fits = setting.anyOf.some((one) => checkScalar(one, tree) === undefined)
    return fits ? undefined : `must be ${expected(setting)}`
  }
  if (setting.const !== undefined) {
    return value === setting.const ? undefined : `must be ${expected(setting)}`
  }
  if (setting.enum !== undefined) {
    if (setting.enum.includes(value as string | number)) return undefined
    const names = setting.enum.map(String)
    return `must be ${expected(setting)}${didYouMean(String(value), names)}`
  }
  if (setting.type === 'boolean') return checkType(setting, value, 'boolean')
  if (setting.type === 'integer') return checkInteger(setting, value)
  return checkText(setting, value)
}

function checkInteger(setting: Setting, value: string | number | boolean): string | undefined {
  if (typeof value !== 'number') return checkType(setting, value, 'number')

  const { minimum = -Infinity, maximum = Infinity } = setting
  const fits = Number.isSafeInteger(value) && value >= minimum && value <= maximum
  return fits ? undefined : `must be ${expected(setting)}`
}

function checkText(setting: Setting, value: string | number | boolean): string | undefined {
  if (typeof value !== 'string') return 'must be text: put it in quotes'

  const { minLength = 0, maxLength = Infinity, pattern } = setting
  // JSON Schema counts code points, not UTF-16 units.
  const length = [...value].length
  if (length < minLength || length > maxLength) return `must be ${expected(setting)}`
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined
  return `does not have the right form. ${setting.description}`
}

function checkType(
  setting: Setting,
  value: string | number | boolean,
  type: 'boolean' | 'number',
): string | undefined {
  if (typeof value === type) return undefined
  return `must be ${expected(setting)}, not ${typeof value === 'string' ? 'text' : `a ${typeof value}`}`
}

function expected(setting: Setting): string {
  const { type, enum: names, minimum, maximum, minLength, maxLength } = setting
  if (setting.anyOf !== undefined) return setting.anyOf.map(expected).join(', or ')
  if (setting.const !== undefined) return setting.const
  if (names !== undefined) return `one of ${names.join(', ')}`
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`
  if (type === 'boolean') return 'true or false'
  if (maxLength === undefined) return 'text'
  return `text of ${minLength ?? 0} to ${maxLength} characters`
}

function nameOf(tree: Tree): string {
  return tree.kind === 'map' ? 'mapping' : 'list'
}
