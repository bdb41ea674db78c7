import type { Command, CommandSpec, Printed } from '../../cli/command.ts'
import type { Io } from '../../cli/io.ts'
import type { Input } from './check-input.ts'
import type { Parameter } from './parameters.ts'

/** More than any answer about 10,000 rules; a longer one would fill the memory of the console. */
const maxCharacters = 64 * 1024 * 1024

/** The exit code of an answer that is too long, beside those of commands. */
export const tooLong = 75

/** Runs a command with nothing of this process but what `io` has, and keeps what it prints. */
export async function callCommand(
  command: Command,
  args: readonly string[],
  io: Pick<Io, 'env' | 'cwd' | 'userName' | 'actor' | 'protectedRoles' | 'shared' | 'draft'>,
): Promise<Printed> {
  const out: string[] = []
  const err: string[] = []
  let characters = 0
  let isTooLong = false
  const into = (texts: string[]) => (text: string) => {
    // The command reports the error as its own, which must not throw again.
    if (isTooLong) return
    characters += text.length
    isTooLong = characters > maxCharacters
    if (isTooLong) throw new Error('the answer is too long')
    texts.push(text)
  }
  const readStdin = async () => ''
  let isForbidden = false
  const onNotPermitted = () => {
    isForbidden = true
  }
  const texts = { out: into(out), err: into(err) }
  const code = await command.run(args, { ...io, ...texts, readStdin, onNotPermitted })
  if (isTooLong) return { code: tooLong, out: '', err: '' }
  return { code, out: out.join(''), err: err.join(''), isForbidden }
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
  input: Input,
): readonly string[] {
  const { output = 'json', confirm: _, ...values } = input
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
