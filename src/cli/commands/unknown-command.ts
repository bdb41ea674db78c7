import { didYouMean, nearest } from '../../kernel/suggest.ts'
import { gatewayOptions } from '../command.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { allCommands } from './overview.ts'
import { type Group, groups, nameInGroup } from './table.ts'

/** Names what the user may have meant. Returns the exit code of bad usage. */
export async function unknownCommand(words: readonly string[], io: Io): Promise<number> {
  const [first = ''] = words
  const group = groups.find(({ name }) => name === first)
  const place = group === undefined ? 'postern' : `postern ${group.name}`
  const problem = await problemWith(words, group)
  io.err(`postern: ${printable(problem)}\nRun "${place} --help" for a list of commands.\n`)
  return 2
}

async function problemWith(words: readonly string[], group: Group | undefined): Promise<string> {
  const [first = '', second] = words
  const last = group === undefined ? first : (second ?? '')
  if (last.startsWith('-')) {
    const known = [
      'help',
      ...Object.keys(gatewayOptions),
      ...(group === undefined ? ['version'] : []),
    ]
    const meant = didYouMean(
      last,
      known.map((each) => `--${each}`),
    )
    if (meant !== '') return `unknown option ${last}${meant}`
    return group === undefined
      ? `option ${last} comes before a command: write it after the command`
      : `missing command after "${first}"`
  }
  const hint = group === undefined ? await similarTo(first) : await similarIn(group, last)
  return `unknown command "${words.join(' ')}"${hint}`
}

async function similarIn(group: Group, word: string): Promise<string> {
  const names = (await group.commands()).map(({ spec }) => nameInGroup(spec))
  const longer = names.filter((name) => name.startsWith(word))
  const meant = longer.length === 1 ? longer[0] : nearest(word, names)
  return meant === undefined ? '' : `; did you mean ${group.name} ${meant}?`
}

async function similarTo(word: string): Promise<string> {
  const names = (await allCommands()).map(({ name }) => name)
  // `postern push` lacks the name of its group.
  const inGroups = names.filter((name) => name.endsWith(` ${word}`))
  if (inGroups.length > 0) return `; did you mean ${inGroups.join(' or ')}?`
  return didYouMean(word, [...groups.map(({ name }) => name), ...names, 'help'])
}
