import type { Command, CommandSpec, Printed } from '../../cli/command.ts'
import type { Io } from '../../cli/io.ts'
import { contextOf } from '../../cli/operation-context.ts'
import type { Task } from './question-thread.ts'

/** More than any answer about 10,000 rules; a longer one would fill the memory of the console. */
const maxCharacters = 64 * 1024 * 1024

/** The exit code of an answer that is too long, beside those of commands. */
export const tooLong = 75

/** What every command of the console may touch. */
export type ConsoleIo = Pick<Io, 'cwd' | 'env' | 'shared'>

/** Runs the operation of a command, or else its command line. */
export async function perform(command: Command, task: Task, io: ConsoleIo): Promise<Printed> {
  const person = personIo(task, io)
  if (command.operation === undefined) {
    return callCommand(command, argvOf(command.spec, task), person)
  }
  const { input, output, config } = task
  const [out, remarks] = [createTexts(), createTexts()]
  const context = contextOf(config, { ...person, err: remarks.add })
  const { err, ...answered } = await command.operation.answer(input, output, context, {
    out: out.add,
  })
  if (out.isTooLong()) return { code: tooLong, out: '', err: '' }
  return { ...answered, out: out.text(), err: `${remarks.text()}${err}` }
}

/**
 * For one person: they act, not the user of the operating system that the console runs as. A change
 * gets stores of its own, because it may make Redis wait for its replicas.
 */
function personIo(task: Task, { cwd, env, shared }: ConsoleIo) {
  const { username, address, writes, protectedRoles, draft } = task
  return {
    cwd,
    env,
    userName: username,
    actor: { kind: 'user', name: username, origin: `${address} (console)` } as const,
    protectedRoles,
    ...(draft !== undefined && { draft }),
    ...(!writes && shared !== undefined && { shared }),
  }
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

/**
 * The command line of a call. Every value is part of an argument that begins with its option's name,
 * or comes after `--`: none can become an option.
 */
function argvOf(spec: CommandSpec, { input, output, config }: Task): readonly string[] {
  const positional = spec.arguments.map(({ name }) => name.toLowerCase())
  const options = Object.entries(input).flatMap(([name, value]) => {
    if (positional.includes(name) || value === false) return []
    return [value === true ? `--${name}` : `--${name}=${value}`]
  })
  return [
    ...options,
    `--output=${output}`,
    ...(config === undefined ? [] : [`--config=${config}`]),
    '--',
    ...positional.flatMap((name) => (input[name] === undefined ? [] : [String(input[name])])),
  ]
}
