import type { Command, CommandSpec, Printed } from '../../cli/command.ts'
import type { Input } from '../../cli/offered/check-input.ts'
import type { Parameter } from '../../cli/offered/parameters.ts'
import { contextOf } from '../../cli/operation-context.ts'
import { type ConsoleIo, personIo } from './person-io.ts'
import type { Task } from './question-thread.ts'

/** More than any answer about 10,000 rules; a longer one would fill the memory of the console. */
const maxCharacters = 64 * 1024 * 1024

/** The exit code of an answer that is too long, beside those of commands. */
export const tooLong = 75

/** Runs the operation of a command, or else the command line of a task. */
export async function perform(command: Command, task: Task, io: ConsoleIo): Promise<Printed> {
  const person = personIo(task, io)
  if ('args' in task.asked) return callCommand(command, task.asked.args, person)
  if (command.operation === undefined) throw new Error(`${task.command} has a command line only`)
  const { input, output, config } = task.asked
  const [out, remarks] = [createTexts(), createTexts()]
  const context = contextOf(config, { ...person, err: remarks.add })
  const { err, ...answered } = await command.operation.answer(input, output, context, {
    out: out.add,
  })
  if (out.isTooLong()) return { code: tooLong, out: '', err: '' }
  return { ...answered, out: out.text(), err: `${remarks.text()}${err}` }
}

/** Keeps what a command writes, as long as that is not too much. */
function createTexts() {
  const texts: string[] = []
  let characters = 0
  return {
    add(text: string) {
      // The command reports the error as its own, which must not throw again.
      if (characters > maxCharacters) return
      characters += text.length
      if (characters > maxCharacters) throw new Error('the answer is too long')
      texts.push(text)
    },
    isTooLong: () => characters > maxCharacters,
    text: () => texts.join(''),
  }
}

/** Runs a command with nothing of this process but what `io` has, and keeps what it prints. */
async function callCommand(
  command: Command,
  args: readonly string[],
  io: ReturnType<typeof personIo>,
): Promise<Printed> {
  const [out, err] = [createTexts(), createTexts()]
  const readStdin = async () => ''
  let isForbidden = false
  const onNotPermitted = () => {
    isForbidden = true
  }
  const texts = { out: out.add, err: err.add }
  const code = await command.run(args, { ...io, ...texts, readStdin, onNotPermitted })
  if (out.isTooLong() || err.isTooLong()) return { code: tooLong, out: '', err: '' }
  return { code, out: out.text(), err: err.text(), isForbidden }
}

/** The values of a call, and the format of its answer. */
interface Called {
  readonly output: string
  readonly values: Input
}

interface CommandLine {
  readonly spec: CommandSpec
  /** The configuration of the console. */
  readonly config: string | undefined
  readonly fixed?: readonly string[] | undefined
  /** The directory of a draft, and the option or the last argument that names it. */
  readonly draft?: { readonly name: string; readonly directory: string } | undefined
}

/**
 * The command line of a call. Every value is part of an argument that begins with its option's name,
 * or comes after `--`: none can become an option.
 */
export function argvOf(
  { spec, config, fixed = [], draft }: CommandLine,
  parameters: readonly Parameter[],
  { output, values }: Called,
): readonly string[] {
  const options = parameters.flatMap(({ name, isArgument }) => {
    const value = values[name]
    if (isArgument || value === undefined || value === false) return []
    return [value === true ? `--${name}` : `--${name}=${value}`]
  })
  const positionals = parameters.flatMap(({ name, isArgument }) => {
    const value = values[name]
    return isArgument && value !== undefined ? [String(value)] : []
  })
  const file = spec.arguments.some(({ name, many }) => name === 'FILE' && !many)
  const isOption = draft !== undefined && Object.hasOwn(spec.options, draft.name)
  return [
    ...options,
    ...fixed,
    ...(isOption ? [`--${draft.name}=${draft.directory}`] : []),
    ...(spec.options['output'] === undefined ? [] : [`--output=${output}`]),
    ...(spec.options['config'] === undefined || config === undefined ? [] : [`--config=${config}`]),
    '--',
    ...(file && config !== undefined ? [config] : []),
    ...positionals,
    ...(draft === undefined || isOption ? [] : [draft.directory]),
  ]
}
