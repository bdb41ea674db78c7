import type { Field } from '../operation.ts'
import type { Call } from './offered.ts'

/** The schema of one value, as OpenAPI documents have it. */
export type ValueSchema =
  | { readonly type: 'boolean' }
  | { readonly type: 'integer' | 'number'; readonly minimum: number; readonly maximum: number }
  | { readonly type: 'string'; readonly enum: readonly string[] }
  | {
      readonly type: 'string'
      readonly minLength: 1
      readonly maxLength: number
      readonly pattern: string
    }

/** One thing that a caller may say. */
export interface Parameter {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  readonly schema: ValueSchema
}

/** Longer than any path that a gateway accepts by default, and short enough for a line of a log. */
const maxLength = 4096
const maxNumber = 10_000

/** Control characters mean nothing in a name, path or reason. */
const text = '^[^\\u0000-\\u001f\\u007f]+$'
const revision = '^r-[0-9a-f]{12,64}$'
const liveOrRevision = '^(live|r-[0-9a-f]{12,64})$'

/** What a call accepts, without the format of its answer. */
export function parametersOf({ kind, operation }: Call): readonly Parameter[] {
  const { input, confirms, draft } = operation
  const isDraft = kind === 'draft' || (kind === 'change' && draft !== undefined)
  const { field, without = [], needs = [] } = (isDraft && draft) || {}
  const parameters = Object.entries(input)
    .filter(([name, { local }]) => !local && name !== field && !without.includes(name))
    .map(([name, each]) => ({
      name,
      description: each.description,
      isRequired:
        each.needed === true ||
        needs.includes(name) ||
        (each.required !== undefined && each.unless === undefined),
      schema: schemaOf(each, operation.kind === 'change'),
    }))
  return kind === 'change' && confirms !== undefined
    ? [...parameters, confirmOf(confirms)]
    : parameters
}

function confirmOf(confirms: string): Parameter {
  return {
    name: 'confirm',
    description: `The value of ${confirms} once more, as the person typed it.`,
    isRequired: true,
    schema: textSchema(text),
  }
}

function schemaOf({ value, choices, number, published }: Field, isChange: boolean): ValueSchema {
  if (value === undefined) return { type: 'boolean' }
  if (choices !== undefined) return { type: 'string', enum: choices }
  if (number !== undefined) {
    const maximum = Math.min(number.max ?? maxNumber, maxNumber)
    return { type: number.integer ? 'integer' : 'number', minimum: number.min, maximum }
  }
  if (!published) return textSchema(text)
  // What is changed has one name for every reader; what is asked about may be what is live then.
  return textSchema(!isChange || value.includes('live') ? liveOrRevision : revision)
}

function textSchema(pattern: string): ValueSchema {
  return { type: 'string', minLength: 1, maxLength, pattern }
}

/** The formats that the API offers of those that an operation is shown in; the first one is the default. */
const formats = ['json', 'jsonl', 'csv', 'text']

/** The parameter that chooses the format of an answer. */
export function outputParameter(possible: Iterable<string>): Parameter {
  const names = new Set(possible)
  return {
    ...{ name: 'output', description: 'Format of the answer.', isRequired: false },
    schema: { type: 'string', enum: formats.filter((each) => names.has(each)) },
  }
}
