import type { ArgumentSpec, CommandSet, CommandSpec, OptionSpec } from '../command.ts'

/** What a shell offers for a value. */
export interface Offer {
  readonly words: readonly string[]
  readonly path?: 'file' | 'directory'
}

export interface CompletedOption {
  /** `--message`. */
  readonly long: string
  /** `-m`. */
  readonly short?: string | undefined
  readonly description: string
  /** Absent for a flag. */
  readonly value?: { readonly name: string; readonly offer: Offer }
}

export interface CompletedArgument {
  readonly name: string
  readonly offer: Offer
  /** It may be given several times. */
  readonly many: boolean
}

/** A place in a command line: after some words, what may come next. */
export interface Node {
  /** The words so far without `postern`, such as `policy push`. */
  readonly words: string
  /** The words that lead to another node. */
  readonly next: readonly { readonly word: string; readonly summary: string }[]
  readonly options: readonly CompletedOption[]
  readonly arguments: readonly CompletedArgument[]
}

/** Every node, the one without words first. */
export function completionNodes({ commands, groups, common }: CommandSet): readonly Node[] {
  const shared = optionsOf(common)
  const top = [...commands, ...groups].map((each) => nextWord(each))
  const leaf = (spec: CommandSpec): Node => {
    const own = optionsOf(spec.options)
    const others = shared.filter(({ long }) => own.every((each) => each.long !== long))
    return {
      words: spec.name,
      next: [],
      options: [...own, ...others, helpOption],
      arguments: spec.arguments.map(completedArgument),
    }
  }
  const inGroups = groups.flatMap((group): readonly Node[] => {
    const next = group.commands.map((each) => nextWord(each))
    const members = group.commands.map(leaf)
    // Options may come before the second word.
    const options = uniqueOptions(members.flatMap((each) => each.options))
    return [
      { words: group.name, next, options, arguments: [] },
      { words: `help ${group.name}`, next, options: [], arguments: [] },
      ...members,
    ]
  })
  const help = { word: 'help', summary: 'show the help of a command' }
  return [
    {
      words: '',
      next: [...top, help],
      options: [...shared, helpOption, versionOption],
      arguments: [],
    },
    { words: 'help', next: top, options: [], arguments: [] },
    ...commands.map(leaf),
    ...inGroups,
  ]
}

const helpOption = { long: '--help', short: '-h', description: 'show this help' }
const versionOption = {
  ...{ long: '--version', short: '-V' },
  description: 'show the version, commit, Node version and platform',
}

function nextWord({ name, summary }: { readonly name: string; readonly summary: string }) {
  return { word: name.slice(name.indexOf(' ') + 1), summary }
}

function optionsOf(options: Readonly<Record<string, OptionSpec>>): readonly CompletedOption[] {
  return Object.entries(options).map(([name, { short, description, value, choices }]) => ({
    long: `--${name}`,
    short: short === undefined ? undefined : `-${short}`,
    description,
    ...(value !== undefined && { value: { name: value, offer: offerFor(value, choices) } }),
  }))
}

function completedArgument({ name, accepts = name, many, choices }: ArgumentSpec) {
  return { name, offer: offerFor(accepts, choices), many: many === true }
}

/** Reads a placeholder: `DIR|REVISION|live` offers directories and the word `live`. */
function offerFor(placeholder: string, choices?: readonly string[]): Offer {
  if (choices !== undefined) return { words: choices }
  const forms = placeholder.split('|')
  const words = forms.filter((form) => /^[a-z]+$/.test(form))
  if (forms.includes('FILE')) return { words, path: 'file' }
  return forms.includes('DIR') ? { words, path: 'directory' } : { words }
}

/** Each option once: what its value may be differs little between commands of a group. */
function uniqueOptions(options: readonly CompletedOption[]): readonly CompletedOption[] {
  return [...new Map(options.map((each) => [each.long, each])).values()]
}
