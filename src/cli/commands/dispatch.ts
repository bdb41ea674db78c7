import { type Command, print } from '../command.ts'
import { completionSpec } from '../completion/specs.ts'
import { commandHelp } from '../help.ts'
import type { Io } from '../io.ts'
import { printedFailure } from './failure.ts'
import { takeGateway } from './gateway-option.ts'
import { groupHelp, programHelp } from './overview.ts'
import { runRemote } from './remote-command.ts'
import { commands, type Group, groups, nameInGroup } from './table.ts'
import { unknownCommand } from './unknown-command.ts'

/** Runs the command that the arguments name and returns the exit code. */
export async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  try {
    const { gateway, words, ...taken } = takeGateway(argv, io.env)
    const start: Start = (command, args) => {
      // A startup file of a shell may set POSTERN_GATEWAY before it loads the script.
      if (command.spec.name === completionSpec.name) return command.run(args, io)
      if (command.spec.name.startsWith('gateway ')) return command.run([...args, ...words], io)
      return gateway === undefined ? command.run(args, io) : runRemote(command, args, gateway, io)
    }
    return await run(taken.argv, io, start)
  } catch (error) {
    return print(printedFailure(error), io)
  }
}

/** Runs a command with its arguments: here, or at a gateway. */
type Start = (command: Command, args: readonly string[]) => Promise<number>

async function run(argv: readonly string[], io: Io, start: Start): Promise<number> {
  const [first, ...rest] = argv
  if (first === undefined) {
    io.err(await programHelp())
    return 2
  }
  if (first === 'help' || isHelpFlag(first)) return help(rest, io)
  // Always of this program.
  if (first === '--version' || first === '-V') {
    return run(['version', ...rest], io, (command, args) => command.run(args, io))
  }
  const group = groups.find(({ name }) => name === first)
  if (group !== undefined) return runInGroup(group, rest, io, start)
  const command = commands.find(({ spec }) => spec.name === first)
  return command === undefined ? unknownCommand([first], io) : start(command, rest)
}

async function runInGroup(
  group: Group,
  args: readonly string[],
  io: Io,
  start: Start,
): Promise<number> {
  const [first] = args
  if (first === undefined) {
    io.err(await groupHelp(group))
    return 2
  }
  if (first === 'help') return help([group.name, ...args.slice(1)], io)
  const members = new Map((await group.commands()).map((each) => [nameInGroup(each.spec), each]))
  // Options may come first: `postern user --config FILE list`.
  const at = first.startsWith('-') ? args.findIndex((each) => members.has(each)) : 0
  const command = members.get(args[at] ?? '')
  if (command !== undefined) return start(command, args.toSpliced(at, 1))
  if (args.some(isHelpFlag)) return help([group.name], io)
  return unknownCommand([group.name, first], io)
}

/** `postern help WORD…`, in all its spellings. */
async function help(given: readonly string[], io: Io): Promise<number> {
  const words = given.filter((each) => !isHelpFlag(each))
  const text = await helpFor(words)
  if (text === undefined) return unknownCommand(words, io)
  io.out(text)
  return 0
}

async function helpFor(words: readonly string[]): Promise<string | undefined> {
  const name = words.join(' ')
  if (name === '' || name === 'help') return programHelp()
  const group = groups.find((each) => each.name === words[0])
  if (group?.name === name) return groupHelp(group)
  const candidates = (await group?.commands()) ?? commands
  const command = candidates.find(({ spec }) => spec.name === name)
  return command && commandHelp(command.spec)
}

function isHelpFlag(word: string): boolean {
  return word === '--help' || word === '-h'
}
