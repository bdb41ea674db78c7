import { didYouMean } from '../../kernel/suggest.ts'
import type { Parameter, ValueSchema } from './parameters.ts'

/** What a caller said, by the name of the parameter. */
export type Input = Readonly<Record<string, string | number | boolean>>

/**
 * Checks query parameters, which are all text, or the members of a JSON body. Returns the values in
 * the types of their schemas, or what is wrong, in one line.
 */
export function checkInput(
  given: unknown,
  parameters: readonly Parameter[],
  isQuery: boolean,
): Input | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return 'the body must be a JSON object'
  }
  const input: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(given)) {
    const parameter = parameters.find((each) => each.name === name)
    if (parameter === undefined) {
      const names = parameters.map((each) => each.name)
      return `unknown parameter ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, names)}`
    }
    const read = isQuery ? fromText(value, parameter.schema) : value
    const problem = problemWith(read, parameter.schema)
    if (problem !== undefined) return `${name} ${problem}`
    input[name] = read as string | number | boolean
  }
  const missing = parameters.find(({ name, isRequired }) => isRequired && !(name in input))
  return missing === undefined ? input : `${missing.name} is missing: ${missing.description}`
}

/** A name that is given twice is a list here, and no schema accepts one. */
function fromText(value: unknown, { type }: ValueSchema): unknown {
  if (typeof value !== 'string' || type === 'string') return value
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return /^\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value
}

function problemWith(value: unknown, schema: ValueSchema): string | undefined {
  if (schema.type === 'boolean') {
    return typeof value === 'boolean' ? undefined : 'must be true or false'
  }
  if (schema.type !== 'string') {
    const { type, minimum, maximum } = schema
    const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
    const number = Number(value)
    if (isNumber && number >= minimum && number <= maximum) return undefined
    return `must be ${type === 'integer' ? 'a whole number' : 'a number'} from ${minimum} to ${maximum}`
  }
  if (typeof value !== 'string') return 'must be text, given once'
  if ('enum' in schema) {
    if (schema.enum.includes(value)) return undefined
    return `must be one of ${schema.enum.join(', ')}${didYouMean(value, schema.enum)}`
  }
  if (value.length < schema.minLength) return 'must not be empty'
  if (value.length > schema.maxLength) return `must have at most ${schema.maxLength} characters`
  if (new RegExp(schema.pattern, 'u').test(value)) return undefined
  if (!schema.pattern.includes('r-')) return 'must not have control characters'
  const live = schema.pattern.includes('live') ? 'live or ' : ''
  return `must be ${live}a revision, such as r-3f2a9c81d604`
}
