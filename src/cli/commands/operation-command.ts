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
} from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonLine, jsonPieces } from '../format.ts'
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
  /** How help writes it, where arguments and options alone do not say it. */
  readonly usage?: readonly string[]
  readonly view: () => Promise<View<Input, Document, Shown>>
}

/** The command of an operation: parses its input, runs it here and prints its document. */
export function operationCommand<const Input extends Fields, Document extends TSchema, Shown>(
  operation: Operation<Input, Document, Shown>,
  face: Face<Input, Document, Shown>,
): Command {
  const spec = specOf(operation, face)

  /** Writes long answers in parts, and those of a list as they come. */
  async function answer(
    given: Given,
    output: string,
    context: Context,
    write: (text: string) => void,
  ): Promise<Omit<Printed, 'out'>> {
    try {
      const [{ run, stream }, view] = await Promise.all([operation.load(), face.view()])
      const input = inputOf(operation.input, given)
      if (output === 'jsonl' && stream !== undefined) {
        await stream(input, context, (page) => write((page as []).map(jsonLine).join('')))
        return { code: exitCodes.done, err: '' }
      }
      const { outcome = 'done', ...answered } = await run(input, context)
      const shown = view[output]?.(answered, input, context) ?? jsonPieces(answered.document)
      const { out, err } = isText(shown) ? { out: shown, err: '' } : shown
      for (const piece of typeof out === 'string' ? [out] : out) write(piece)
      return { code: exitCodes[outcome], err }
    } catch (error) {
      const { out, ...failed } = await commandFailure(error, spec, { output, place: context })
      write(out)
      return failed
    }
  }

  const { run } = command(spec, async () => async (call, io) => {
    const { output, config, ...options }: Given = call.options
    const named = face.arguments?.map((name, at) => {
      const isMany = operation.input[name]?.many
      return [name, isMany ? call.arguments.slice(at) : call.arguments[at]] as const
    })
    const given = { ...options, ...Object.fromEntries(named ?? []) }
    const context = contextOf(config === undefined ? undefined : String(config), io)
    const { code, err } = await answer(given, String(output), context, (text) => io.out(text))
    io.err(err)
    return code
  })
  return { spec, run, operation: { document: operation.document, answer } }
}

function isText(shown: string | Iterable<string> | object): shown is string | Iterable<string> {
  return typeof shown === 'string' || Symbol.iterator in shown
}

/** Adds what the caller did not give. */
function inputOf<Input extends Fields>(fields: Input, given: Given): InputOf<Input> {
  const values = Object.entries<Field>(fields).map(([name, field]) => {
    const { value, number, many, default: standard } = field
    const otherwise = number === undefined || standard === undefined ? standard : Number(standard)
    const absent = many ? [] : value === undefined ? false : otherwise
    return [name, given[name] ?? absent] as const
  })
  return Object.fromEntries(values) as InputOf<Input>
}

/** What parser, help, completion and reference know of the command. */
function specOf<Input extends Fields, Document extends TSchema, Shown>(
  { name, summary, details, input }: Operation<Input, Document, Shown>,
  face: Face<Input, Document, Shown>,
): CommandSpec {
  const { arguments: positional = [], exitCodes: codes, examples, outputBefore } = face
  const { output = outputOption, usage } = face
  const isArgument = (field: string) => (positional as readonly string[]).includes(field)
  const options = Object.entries<OptionSpec>(input).filter(([field]) => !isArgument(field))
  const at = options.findIndex(([field]) => field === outputBefore)
  options.splice(at === -1 ? options.length : at, 0, ...Object.entries(output))
  return {
    ...{ name, summary, examples, exitCodes: codes },
    ...(details !== undefined && { details }),
    ...(usage !== undefined && { usage }),
    arguments: positional.map((field) => {
      const { value = field, required, default: _, ...about }: Field = input[field] as Field
      return {
        ...{ ...about, name: value },
        ...(required === undefined && about.unless === undefined && { optional: true as const }),
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
