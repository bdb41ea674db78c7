import { type ParseArgsConfig, parseArgs } from 'node:util'
import { Invalid, type Problem } from '../errors.ts'
import { formatJunit } from '../policy/expectations/junit.ts'
import type { Command, Io } from './io.ts'
import { startClock } from './progress.ts'
import { printable } from './table.ts'

type Options = NonNullable<ParseArgsConfig['options']>

const commonOptions = {
  config: { type: 'string' },
  output: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options

/** The forms in which a command can answer. */
export type PolicyOutput = 'text' | 'json' | 'junit'

/** What a policy command is called with, understood completely. */
interface PolicyCall<Own extends Options> {
  readonly values: {
    readonly [Name in keyof (Own & typeof commonOptions)]?: (Own &
      typeof commonOptions)[Name]['type'] extends 'string'
      ? string
      : boolean
  }
  readonly positionals: readonly string[]
  readonly output: PolicyOutput
}

/** How a policy command is used. `help` begins with its usage and goes on with examples. */
interface PolicyCommandSpec<Own extends Options> {
  readonly help: string
  readonly options: Own
  readonly positionals: readonly [least: number, most: number]
  readonly outputs?: readonly PolicyOutput[]
}

/**
 * Makes a command that shows its help for `--help`, and for arguments it does not understand, with
 * exit code 2. `--config` and `--output` are understood by all of them. With `--output json`
 * or `junit` there is a document also when it fails.
 */
export function policyCommand<const Own extends Options>(
  spec: PolicyCommandSpec<Own>,
  run: (call: PolicyCall<Own>, io: Io) => Promise<number>,
): Command {
  const {
    help,
    options,
    positionals: [least, most],
    outputs = ['text', 'json'],
  } = spec
  return async (args, io) => {
    const parsed = parse(args, { ...commonOptions, ...options })
    if (typeof parsed === 'string') return badArguments(parsed, { help, io })
    const { positionals } = parsed
    const { help: isHelp, output: wanted = 'text' } = parsed.values
    const values = parsed.values as unknown as PolicyCall<Own>['values']
    if (isHelp === true) {
      io.out(help)
      return 0
    }
    const output = outputs.find((each) => each === wanted)
    if (output === undefined) {
      return badArguments(`--output is one of ${outputs.join(', ')}`, { help, io })
    }
    if (positionals.length < least) return badArguments('arguments are missing', { help, io })
    if (positionals.length > most) return badArguments('too many arguments', { help, io })
    // What an unset variable of a script leaves: it must not stand for the current directory.
    if (positionals.includes('')) return badArguments('an argument is empty', { help, io })
    startClock(io)
    try {
      return await run({ values, positionals, output }, io)
    } catch (error) {
      if (output === 'json') io.out(json({ ok: false, errors: problemsIn(error) }))
      if (output === 'junit' && error instanceof Invalid) io.out(formatJunit([], error.problems))
      throw error
    }
  }
}

function parse(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    const [first] = error instanceof Error ? error.message.split('. ', 1) : []
    return first ?? 'these arguments are not understood'
  }
}

/** Says what is wrong with the arguments, and how the command is used. */
export function badArguments(
  problem: string,
  { help, io }: { readonly help: string; readonly io: Io },
): number {
  io.err(`postern: ${printable(problem)}\n\n${help}`)
  return 2
}

/** A number as people write one; `undefined` for what else `Number` takes, an empty text included. */
export function decimal(text: string): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** What went wrong, in the form of the problems that `check` prints. */
function problemsIn(error: unknown): readonly (Problem | Pick<Problem, 'message'>)[] {
  if (error instanceof Invalid) return error.problems
  return [{ message: error instanceof Error ? error.message : String(error) }]
}

/** One JSON document, as `--output json` prints it. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** `1 rule`, `2 rules`, `12,000 rules`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`
}
