import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts'
import type { Operation } from './operations.ts'

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

/** One thing that a caller may say, and where it goes on the command line. */
export interface Parameter {
  readonly name: string
  readonly description: string
  readonly isArgument: boolean
  readonly isRequired: boolean
  readonly schema: ValueSchema
}

/** The formats that the API offers of those that a command has; the first one is the default. */
const offered = ['json', 'jsonl', 'csv', 'text']

/** Longer than any path that a gateway accepts by default, and short enough for a line of a log. */
const maxLength = 4096
const maxNumber = 10_000

/** Control characters mean nothing in a name, path or reason. */
const text = '^[^\\u0000-\\u001f\\u007f]+$'
const revision = '^r-[0-9a-f]{12,64}$'
const liveOrRevision = '^(live|r-[0-9a-f]{12,64})$'

/** The parameters of an operation, by the specification of its command. Throws on a wrong table. */
export function parametersOf(operation: Operation, spec: CommandSpec): readonly Parameter[] {
  const { parameters = [], revisions = [], required = [], kind } = operation
  const formOf = (name: string, placeholder: string) => {
    if (!revisions.includes(name)) return text
    // What is changed has one name for every reader; what is asked about may be what is live then.
    return kind !== 'change' || placeholder.includes('live') ? liveOrRevision : revision
  }
  const named = parameters.map((name) => {
    const place = placeOf(name, spec)
    if (place !== -1) {
      const argument = spec.arguments[place] as ArgumentSpec
      return { place, ...ofArgument(name, argument, formOf(name, argument.name)) }
    }
    const option = Object.hasOwn(spec.options, name) ? spec.options[name] : undefined
    if (option === undefined) throw new Error(`${spec.name} has neither ${name} nor --${name}`)
    return { place, ...ofOption(name, option, formOf(name, option.value ?? '')) }
  })
  const ordered = named
    .toSorted((left, right) => left.place - right.place)
    .map(({ place: _, ...each }) => ({
      ...each,
      isRequired: each.isRequired || required.includes(each.name),
    }))
  const formats = spec.options['output']?.choices?.filter((each) => offered.includes(each)) ?? []
  return [
    ...ordered,
    ...(operation.confirms === undefined ? [] : [confirmOf(operation.confirms)]),
    ...(formats.length === 0 ? [] : [outputOf(formats)]),
  ]
}

/** The place of an argument, of which `DIR|REVISION` has two names; -1 for an option. */
function placeOf(name: string, { arguments: all }: CommandSpec): number {
  return all.findIndex((each) => each.name.toLowerCase().split('|').includes(name))
}

function confirmOf(confirms: string): Parameter {
  return {
    name: 'confirm',
    description: `The value of ${confirms} once more, as the person typed it.`,
    isArgument: false,
    isRequired: true,
    schema: textSchema(text),
  }
}

function ofArgument(name: string, argument: ArgumentSpec, form: string): Parameter {
  const { description, optional, unless, choices } = argument
  return {
    name,
    description,
    isArgument: true,
    isRequired: !optional && unless === undefined,
    schema: choices === undefined ? textSchema(form) : { type: 'string', enum: choices },
  }
}

function ofOption(name: string, option: OptionSpec, form: string): Parameter {
  const { description, required } = option
  const schema = optionSchema(option, form)
  return { name, description, isArgument: false, isRequired: required !== undefined, schema }
}

function optionSchema(option: OptionSpec, form: string): ValueSchema {
  const { value, choices, number } = option
  if (value === undefined) return { type: 'boolean' }
  if (choices !== undefined) return { type: 'string', enum: choices }
  if (number === undefined) return textSchema(form)
  const maximum = Math.min(number.max ?? maxNumber, maxNumber)
  return { type: number.integer ? 'integer' : 'number', minimum: number.min, maximum }
}

function textSchema(pattern: string): ValueSchema {
  return { type: 'string', minLength: 1, maxLength, pattern }
}

function outputOf(formats: readonly string[]): Parameter {
  return {
    name: 'output',
    description: 'Format of the answer.',
    isArgument: false,
    isRequired: false,
    schema: { type: 'string', enum: formats.toSorted(byOffer) },
  }
}

function byOffer(left: string, right: string): number {
  return offered.indexOf(left) - offered.indexOf(right)
}
