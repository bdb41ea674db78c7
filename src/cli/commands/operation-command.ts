import type { TSchema, ValueOf } from '../../config/schema/type.ts'
import type { Context } from '../../operations/context.ts'
import { failureOf } from '../../operations/failure.ts'
import { type Inputs, inputOf } from '../../operations/input.ts'
import type {
  Answer,
  Description,
  Field,
  Fields,
  InputOf,
  Operation,
  Work,
} from '../../operations/operation.ts'
import {
  type AnswerParts,
  type ArgumentSpec,
  type Command,
  type CommandSpec,
  configOption,
  outputOption,
  type Printout,
  type Shows,
} from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonLine, jsonPieces } from '../format.ts'
import { contextOf } from '../operation-context.ts'
import { type Prompt, type View, warnings } from '../view.ts'
import { askFirst } from './ask-first.ts'
import { commandFailure } from './failure.ts'
import { command } from './run-command.ts'

/** How the command line shows an operation. */
interface Face<Input extends Fields, Document extends TSchema, Shown, Plan extends TSchema> {
  /** The fields that are arguments, in order; the others are options. */
  readonly arguments?: readonly (keyof Input & string)[]
  /** Absent: text and JSON. */
  readonly output?: CommandSpec['options']
  /** `false`: no --config, because it reads no configuration or has an argument for it. */
  readonly config?: false
  /** The option before which help lists `--output`; absent: `policies`, or else `config`. */
  readonly outputBefore?: (keyof Input & string) | 'config'
  /** Absent: text is nothing but the notes, and JSON the document. */
  readonly view?: () => Promise<View<Input, Document, Shown>>
  /**
   * What a person reads and answers before a change with a plan is made. Its fields may have `yes`,
   * which does not ask, and `dry-run`, which prints the plan.
   */
  readonly prompt?: () => Promise<Prompt<InputOf<Input>, ValueOf<Plan>>>
  /** Commands that run in place of this one where the option or argument with their name is given. */
  readonly instead?: Readonly<Record<string, Command>>
}

/** What else help says of a command: in `help-texts`, by its name. */
type HelpText = Pick<CommandSpec, 'details' | 'usage' | 'exitCodes' | 'examples'>

/** Makes commands of operations, with what a file of `help-texts` says of each. */
export function commandsWith(help: Readonly<Record<string, HelpText>>) {
  return <const Input extends Fields, Document extends TSchema, Shown, Plan extends TSchema>(
    operation: Operation<Input, Document, Shown, Plan>,
    face: Face<Input, Document, Shown, Plan> = {},
  ) => operationCommand(operation, face, help[operation.name] as HelpText)
}

/** Views or prompts of one module, by name. */
export function partsOf<Module>(load: () => Promise<Module>) {
  return <Name extends keyof Module>(name: Name) =>
    async () =>
      (await load())[name]
}

/** The command of an operation: parses its input, runs it here and prints its document. */
function operationCommand<
  Input extends Fields,
  Document extends TSchema,
  Shown,
  Plan extends TSchema,
>(
  operation: Operation<Input, Document, Shown, Plan>,
  face: Face<Input, Document, Shown, Plan>,
  help: HelpText,
): Command {
  const spec = { ...help, ...specOf(operation, face) }
  const { instead = {} } = face

  async function render(
    answered: Answer<ValueOf<Document>, Shown>,
    input: InputOf<Input>,
    output: string,
    place: Pick<Context, 'cwd' | 'env'>,
  ): Promise<Shows> {
    const view = (await face.view?.()) ?? notesOnly
    const shown = view[output]?.(answered, input, place) ?? jsonPieces(answered.document)
    // What a change did comes before its result, such as the password of a new account.
    const done = operation.kind === 'change' ? warnings(answered.notes) : ''
    return isText(shown) ? { before: done, out: shown, err: '' } : shown
  }

  /** Writes long answers in parts, and those of a list as they come. A change with a plan asks first. */
  async function answer(
    given: Inputs,
    output: string,
    { context, terminal, source }: AnswerParts,
  ): Promise<Omit<Printout, 'out'>> {
    const replaced = Object.entries(instead).find(([name]) => given[name])?.[1]
    if (replaced?.operation !== undefined) {
      return replaced.operation.answer(given, output, {
        context,
        terminal,
        ...(source && { source }),
      })
    }
    try {
      const { run, review, stream } = (await (source ?? operation).load()) as Work<
        Input,
        Document,
        Shown,
        Plan
      >
      const input = inputOf(operation.input, given)
      if (output === 'jsonl' && stream !== undefined) {
        await stream(input, context, (page) => terminal.out((page as []).map(jsonLine).join('')))
        return { code: exitCodes.done, err: '' }
      }
      const prompt = await face.prompt?.()
      const answered =
        review === undefined || prompt === undefined
          ? await run(input, context)
          : await askFirst(review, { prompt, input, output, given }, context, terminal)
      if ('code' in answered) return answered
      const { before = '', out, err } = await render(answered, input, output, context)
      context.err(before)
      for (const piece of typeof out === 'string' ? [out] : out) terminal.out(piece)
      return { code: exitCodes[answered.outcome ?? 'done'], err }
    } catch (error) {
      const isUnreadable = source !== undefined && failureOf(error).kind === 'bug'
      const { out, ...failed } = await commandFailure(
        isUnreadable ? source.unreadable : error,
        spec,
        {
          ...{ output, place: context },
        },
      )
      terminal.out(out)
      return failed
    }
  }

  const named = (values: readonly unknown[]) =>
    Object.fromEntries(
      spec.arguments.map(({ field = '', many }, at) => [
        field,
        many ? values.slice(at) : values[at],
      ]),
    ) as Inputs
  const { run } = command(spec, async () => async (call, io) => {
    const { output = 'text', config, ...options }: Inputs = call.options
    const given = { ...options, ...named(call.arguments) } as Inputs
    const context = contextOf(config === undefined ? undefined : String(config), io)
    const { code, err } = await answer(given, String(output), { context, terminal: io })
    io.err(err)
    return code
  })
  return {
    ...{ spec, run },
    operation: {
      ...{ operation, instead, named, render, answer },
      formats: spec.options['output']?.choices ?? [],
      mayDecline: spec.exitCodes[exitCodes.no] !== undefined,
    },
  }
}

const notesOnly: Readonly<Record<string, () => string>> = { text: () => '' }

function isText(shown: string | Iterable<string> | object): shown is string | Iterable<string> {
  return typeof shown === 'string' || Symbol.iterator in shown
}

/** What parser, help, completion and reference know of the command, besides the texts of help. */
function specOf<Input extends Fields>(
  { name, summary, input }: Pick<Description<Input>, 'name' | 'summary' | 'input'>,
  face: Pick<
    Face<Input, TSchema, unknown, TSchema>,
    'arguments' | 'config' | 'instead' | 'output' | 'outputBefore'
  >,
): Omit<CommandSpec, keyof HelpText> {
  const { arguments: positional = [], output = outputOption, instead = {} } = face
  const fields: Fields = input
  const arguments_ = positional.map((field) => argumentOf(fields[field] as Field, field))
  const others = Object.values(instead).map(({ spec }) => spec)
  const replacing = Object.entries(instead).flatMap(([name, { spec }]) =>
    spec.arguments.map((each) => ({ ...each, field: name })),
  )
  const options = Object.entries(fields).filter(
    ([field]) => !positional.some((each) => each === field),
  )
  options.push(...others.flatMap((each) => Object.entries(each.options)).filter(isOwn))
  const { outputBefore = 'policies' } = face
  const at = options.findIndex(([field]) => field === outputBefore)
  options.splice(at === -1 ? options.length : at, 0, ...Object.entries(output))
  return {
    ...{ name, summary, arguments: [...arguments_, ...replacing] },
    options: { ...Object.fromEntries(options), ...(face.config !== false && configOption) },
  }
}

/** Not one that every command has. */
function isOwn([name]: readonly [string, unknown]): boolean {
  return name !== 'output' && name !== 'config'
}

function argumentOf({ value, required, default: _, ...about }: Field, field: string): ArgumentSpec {
  return {
    ...{ ...about, name: value ?? field, field },
    ...(required === undefined && about.unless === undefined && { optional: true as const }),
  }
}
