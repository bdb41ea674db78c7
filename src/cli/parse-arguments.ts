import { parseArgs } from 'node:util'
import { didYouMean } from '../kernel/suggest.ts'
import {
  type ArgumentSpec,
  type Call,
  type CommandSpec,
  gatewayOptions,
  type OptionSpec,
  UsageError,
} from './command.ts'

/** Reads the arguments of a command. Throws `UsageError` with the first thing that is wrong. */
export function parseArguments<Spec extends CommandSpec>(
  spec: Spec,
  args: readonly string[],
): Call<Spec> {
  const given = tokensOf(spec, args)
  const options = Object.entries(spec.options).map(([name, option]) => {
    return [name, optionValue(name, option, given.options.get(name))] as const
  })
  const replacement = ({ unless = [] }: ArgumentSpec) =>
    unless.find((name) => given.options.has(name))
  const expected = spec.arguments.filter((each) => replacement(each) === undefined)
  checkArguments(expected, given.positionals, replacementHint(spec, replacement))
  const values = [...given.positionals]
  const named = spec.arguments
    .map((each) => (expected.includes(each) ? values.shift() : undefined))
    .filter((value, at) => value !== undefined || spec.arguments[at]?.many !== true)
  return {
    options: Object.fromEntries(options),
    arguments: [...named, ...values],
  } as unknown as Call<Spec>
}

/** The names of the options that were given. Throws as `parseArguments` does. */
export function optionNames(spec: CommandSpec, args: readonly string[]): ReadonlySet<string> {
  return new Set(tokensOf(spec, args).options.keys())
}

/** Why an argument of the usual form is one too many: `: --user replaces ROLE`. */
function replacementHint(
  spec: CommandSpec,
  replacement: (argument: ArgumentSpec) => string | undefined,
): string {
  const replaced = spec.arguments.find((each) => replacement(each) !== undefined)
  return replaced === undefined ? '' : `: --${replacement(replaced)} replaces ${replaced.name}`
}

/** Whether the user asks for help, also when the other arguments are wrong. */
export function asksForHelp(spec: CommandSpec, args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const before = end === -1 ? args : args.slice(0, end)
  if (before.includes('--help') || before.includes('-h')) return true
  // Of a command in a group, `help` comes before its name, and here it may be an argument.
  const mayFollow = spec.arguments.length === 0 || !spec.name.includes(' ')
  return mayFollow && args.length === 1 && args[0] === 'help'
}

/** The value of each option that was given, `true` for a flag, and the other words. */
function tokensOf(spec: CommandSpec, args: readonly string[]) {
  const types = Object.entries(spec.options).map(([name, { value, short }]) => {
    const type = value === undefined ? 'boolean' : 'string'
    return [name, { type, ...(short !== undefined && { short }) }] as const
  })
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const options = new Map<string, string | true>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(spec.options, name) ? spec.options[name] : undefined
    if (option === undefined) throw unknownOption(wholeName(rawName, args[token.index]), spec)
    if (option.once && options.has(name)) throw new UsageError(`${rawName} is given twice`)
    if (option.value === undefined) {
      if (value !== undefined) throw new UsageError(`${rawName} does not take a value`)
      options.set(name, true)
    } else {
      // `--config --output` is a forgotten value far more often than a file called --output, and an
      // empty one is an unset variable of a script.
      if (!value || (!inlineValue && /^-./.test(value))) {
        throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`)
      }
      options.set(name, value)
    }
  }
  return { options, positionals }
}

/** `-output` is read as a group of letters; of an unknown one, the word says more than its letter. */
function wholeName(rawName: string, word = rawName): string {
  return /^-[a-z]{2,}$/.test(word) ? word : rawName
}

function unknownOption(rawName: string, { options }: CommandSpec): UsageError {
  const name = rawName.replace(/^-+/, '')
  const isFormat = options['output']?.choices?.includes(name) === true
  const names = [...Object.keys(options), ...Object.keys(gatewayOptions), 'help']
  const known = names.map((each) => `--${each}`)
  const longer = known.filter((each) => {
    return name.length > 1 && (each.startsWith(rawName) || each.endsWith(`-${name}`))
  })
  const meant = isFormat ? `--output ${name}` : longer.length === 1 ? longer[0] : undefined
  const hint = meant === undefined ? didYouMean(rawName, known) : `; did you mean ${meant}?`
  return new UsageError(`unknown option ${rawName}${hint}`)
}

function optionValue(
  name: string,
  option: OptionSpec,
  given: string | true | undefined,
): string | number | boolean | undefined {
  if (option.value === undefined) return given !== undefined
  const shown = option.short === undefined ? `--${name}` : `-${option.short}`
  if (given === undefined && option.required !== undefined) {
    throw new UsageError(`${shown} is required: ${option.required}`)
  }
  const text = given === undefined || given === true ? option.default : given
  if (text === undefined) return undefined
  if (option.number !== undefined) return numberOf(shown, text, option)
  checkChoice(shown, text, option.choices)
  return text
}

/** A number as people write one, and not all that `Number` accepts, such as an empty text or 0x10. */
function numberOf(shown: string, text: string, { number = { min: 0 } }: OptionSpec): number {
  const { min, max, integer } = number
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)) {
    if (!integer || Number.isSafeInteger(value)) return value
  }
  const kind = integer ? 'a whole number' : 'a number'
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  throw new UsageError(`${shown}: ${JSON.stringify(text)} is not ${kind} ${range}`)
}

function checkArguments(
  specs: readonly ArgumentSpec[],
  given: readonly string[],
  hint: string,
): void {
  const required = specs.filter(({ optional }) => !optional)
  const missing = required.slice(given.length).map(({ name }) => name)
  if (missing.length > 0) {
    const noun = missing.length === 1 ? 'argument' : 'arguments'
    throw new UsageError(`missing ${noun} ${missing.join(' ')}`)
  }
  // Without its value: it may be a token or a password that belongs elsewhere.
  if (given.length > specs.length && !specs.at(-1)?.many) {
    const expected = specs.map(({ name }) => name).join(' ')
    const words = expected === '' ? 'none' : expected
    throw new UsageError(`too many arguments: expected ${words}${hint}`)
  }
  for (const [at, value] of given.entries()) {
    const { name = '', choices } = specs[Math.min(at, specs.length - 1)] ?? {}
    // A script leaves this for an unset variable; it must not mean the current directory.
    if (value === '') throw new UsageError(`argument ${name} is empty`)
    checkChoice(name, value, choices)
  }
}

function checkChoice(shown: string, value: string, choices: readonly string[] | undefined): void {
  if (choices === undefined || choices.includes(value)) return
  const hint = didYouMean(value, choices)
  const expected = choices.join(', ').replace(/, ([^,]*)$/, ' or $1')
  throw new UsageError(`${shown}: ${JSON.stringify(value)} is not valid, use ${expected}${hint}`)
}
