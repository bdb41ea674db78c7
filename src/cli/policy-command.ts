import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Command, Io } from './io.ts'
import { startClock } from './policy-progress.ts'

type Options = NonNullable<ParseArgsConfig['options']>

const commonOptions = {
  config: { type: 'string' },
  output: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options

/** What a policy command is called with, understood completely. */
export interface PolicyCall<Own extends Options> {
  readonly values: {
    readonly [Name in keyof (Own & typeof commonOptions)]?: (Own &
      typeof commonOptions)[Name]['type'] extends 'string'
      ? string
      : boolean
  }
  readonly positionals: readonly string[]
  readonly output: 'text' | 'json' | 'junit'
}

/** How a policy command is used. `help` begins with its usage and goes on with examples. */
export interface PolicyCommandSpec<Own extends Options> {
  readonly help: string
  readonly options: Own
  readonly positionals: readonly [least: number, most: number]
  readonly outputs?: readonly PolicyCall<Own>['output'][]
}

/**
 * Makes a command that shows its help for `--help`, and for arguments it does not understand, with
 * exit code 2. `--config` and `--output` are understood by all of them.
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
    if (parsed === undefined) {
      io.err(help)
      return 2
    }
    const { positionals } = parsed
    const { help: isHelp, output: wanted = 'text' } = parsed.values
    const values = parsed.values as unknown as PolicyCall<Own>['values']
    if (isHelp === true) {
      io.out(help)
      return 0
    }
    const output = outputs.find((each) => each === wanted)
    if (output === undefined || positionals.length < least || positionals.length > most) {
      io.err(help)
      return 2
    }
    startClock(io)
    return run({ values, positionals, output }, io)
  }
}

function parse(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch {
    return undefined
  }
}

/** One JSON document, as `--output json` prints it. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** `1 rule`, `2 rules`, `12,000 rules`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`
}
