import { commandHelp } from '../help.ts'
import type { Io } from '../io.ts'
import { reportError } from '../report-error.ts'
import { groupHelp, programHelp } from './overview.ts'
import { commands, type Group, groups, nameInGroup } from './table.ts'
import { unknownCommand } from './unknown-command.ts'

/** Runs the command that the arguments name and returns the exit code. */
export async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io)
  } catch (error) {
    return reportError(error, io)
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv
  if (first === undefined) {
    io.err(await programHelp())
    return 2
  }
  if (first === 'help' || isHelpFlag(first)) return help(rest, io)
  if (first === '--version' || first === '-V') return run(['version', ...rest], io)
  const group = groups.find(({ name }) => name === first)
  if (group !== undefined) return runInGroup(group, rest, io)
  const command = commands.find(({ spec }) => spec.name === first)
  return command === undefined ? unknownCommand([first], io) : command.run(rest, io)
}

async function runInGroup(group: Group, args: readonly string[], io: Io): Promise<number> {
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
  if (command !== undefined) return command.run(args.toSpliced(at, 1), io)
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
