import type { TSchema } from '../../config/schema/type.ts'
import type { Context } from '../../operations/context.ts'
import type { Field, Fields, InputOf, Operation } from '../../operations/operation.ts'
import {
  type Command,
  type CommandSpec,
  configOption,
  type Given,
  type OptionSpec,
  outputOption,
  type Printed,
  print,
} from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, jsonLine } from '../format.ts'
import { contextOf } from '../operation-context.ts'
import type { View } from '../view.ts'
import { commandFailure } from './failure.ts'
import { command } from './run-command.ts'

/** How the command line shows an operation. */
interface Face<Input extends Fields, Document extends TSchema, Shown>
  extends Pick<CommandSpec, 'exitCodes' | 'examples'> {
  /** The fields that are arguments, in order; the others are options. */
  readonly arguments?: readonly (keyof Input & string)[]
  /** Absent: text and JSON. */
  readonly output?: CommandSpec['options']
  /** `false`: no --config, because it reads no configuration or has an argument for it. */
  readonly config?: false
  /** The field before which help lists `--output`; absent: it comes after all fields. */
  readonly outputBefore?: keyof Input & string
  readonly view: () => Promise<View<Input, Document, Shown>>
}

/** The command of an operation: parses its input, runs it here and prints its document. */
export function operationCommand<const Input extends Fields, Document extends TSchema, Shown>(
  operation: Operation<Input, Document, Shown>,
  face: Face<Input, Document, Shown>,
): Command {
  const spec = specOf(operation, face)

  /** Writes the parts of a long list as they come, where the caller can. */
  async function answer(
    given: Given,
    output: string,
    context: Context,
    write?: (text: string) => void,
  ): Promise<Printed> {
    try {
      const [{ run, stream }, view] = await Promise.all([operation.load(), face.view()])
      const input = inputOf(operation.input, given)
      if (output === 'jsonl' && stream !== undefined) {
        const out: string[] = []
        const add = write ?? ((text) => void out.push(text))
        await stream(input, context, (page) => add((page as []).map(jsonLine).join('')))
        return { code: exitCodes.done, out: out.join(''), err: '' }
      }
      const { outcome = 'done', ...answered } = await run(input, context)
      const shown = view[output]?.(answered, input) ?? json(answered.document)
      const printed = typeof shown === 'string' ? { out: shown, err: '' } : shown
      return { code: exitCodes[outcome], ...printed }
    } catch (error) {
      return commandFailure(error, spec, { output, place: context })
    }
  }

  const { run } = command(spec, async () => async (call, io) => {
    const { output, config, ...options }: Given = call.options
    const named = face.arguments?.map((name, at) => [name, call.arguments[at]] as const) ?? []
    const given = { ...options, ...Object.fromEntries(named) }
    const context = contextOf(config === undefined ? undefined : String(config), io)
    return print(await answer(given, String(output), context, (text) => io.out(text)), io)
  })
  return { spec, run, operation: { document: operation.document, answer } }
}

/** Adds what the caller did not give. */
function inputOf<Input extends Fields>(fields: Input, given: Given): InputOf<Input> {
  const values = Object.entries<Field>(fields).map(([name, field]) => {
    const { value, number, default: standard } = field
    const otherwise = number === undefined || standard === undefined ? standard : Number(standard)
    return [name, given[name] ?? (value === undefined ? false : otherwise)] as const
  })
  return Object.fromEntries(values) as InputOf<Input>
}

/** What parser, help, completion and reference know of the command. */
function specOf<Input extends Fields, Document extends TSchema, Shown>(
  { name, summary, details, input }: Operation<Input, Document, Shown>,
  face: Face<Input, Document, Shown>,
): CommandSpec {
  const { arguments: positional = [], exitCodes: codes, examples, outputBefore } = face
  const { output = outputOption } = face
  const isArgument = (field: string) => (positional as readonly string[]).includes(field)
  const options = Object.entries<OptionSpec>(input).filter(([field]) => !isArgument(field))
  const at = options.findIndex(([field]) => field === outputBefore)
  options.splice(at === -1 ? options.length : at, 0, ...Object.entries(output))
  return {
    ...{ name, summary, examples, exitCodes: codes },
    ...(details !== undefined && { details }),
    arguments: positional.map((field) => {
      const { value = field, description, choices, required }: Field = input[field] as Field
      return {
        ...{ name: value, description, ...(choices !== undefined && { choices }) },
        ...(required === undefined && { optional: true as const }),
      }
    }),
    options: { ...Object.fromEntries(options), ...(face.config !== false && configOption) },
  }
}

/** The exit codes of a command that reads the database only. */
export const databaseFailures = {
  3: 'the configuration or a table is not valid',
  5: 'the database is unreachable',
} as const
