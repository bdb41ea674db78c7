import type { Context } from '../operations/context.ts'
import type { Inputs } from '../operations/input.ts'
import type {
  Answer,
  AnyOperation,
  AnyWork,
  Field,
  Fields,
  InputOf,
  OneOf,
} from '../operations/operation.ts'
import type { Io } from './io.ts'

/** One option of a command, for the parser and for help. */
export type OptionSpec = Field

/** One positional argument of a command. */
export interface ArgumentSpec {
  readonly name: string
  /** The field of the operation that it sets. */
  readonly field?: string
  readonly description: string
  /** What it may be, as a placeholder such as `DIR|live`, where the name does not say it. */
  readonly accepts?: string
  readonly optional?: true
  /** The options that replace it: with one of them, the user leaves it out. */
  readonly unless?: readonly string[]
  /** The last argument may be given several times. */
  readonly many?: true
  readonly choices?: readonly string[]
}

/** Everything a user can know about a command without running it. */
export interface CommandSpec {
  /** The words that call it, such as `policy push`. */
  readonly name: string
  /** A phrase without a period, for the list of commands. */
  readonly summary: string
  /** Paragraphs below the summary. Help wraps them; lines that begin with a space stay as they are. */
  readonly details?: readonly string[]
  /** What follows the name in the usage line, where the arguments and options alone do not say it. */
  readonly usage?: readonly string[]
  readonly arguments: readonly ArgumentSpec[]
  readonly options: Readonly<Record<string, OptionSpec>>
  readonly exitCodes: Readonly<Record<number, string>>
  /** Lines to paste, each with an optional comment after two spaces and `#`. */
  readonly examples: readonly string[]
}

type ArgumentValues<Specs extends readonly ArgumentSpec[]> = Specs extends readonly [
  { readonly many: true },
]
  ? readonly string[]
  : {
      readonly [At in keyof Specs]:
        | OneOf<Specs[At]>
        | (Specs[At] extends { readonly optional: true } | { readonly unless: readonly string[] }
            ? undefined
            : never)
    }

/** What the user asked for, in the types that the specification promises. */
export interface Call<Spec extends CommandSpec> {
  readonly options: InputOf<Spec['options']>
  readonly arguments: ArgumentValues<Spec['arguments']>
}

/** The work of a command. Returns its exit code. */
export type Run<Spec extends CommandSpec> = (call: Call<Spec>, io: Io) => Promise<number>

/** A command that is ready to run. */
export interface Command {
  readonly spec: CommandSpec
  /** Runs it with the arguments after its name and returns the exit code. */
  readonly run: (args: readonly string[], io: Io) => Promise<number>
  /** What it is a view of. */
  readonly operation?: OperationView
}

/** How the command line shows an operation, for programs that have no command line and for other machines. */
export interface OperationView {
  readonly operation: AnyOperation
  /** Commands that run in place of this one where the field with their name is given. */
  readonly instead: Readonly<Record<string, Command>>
  readonly formats: readonly string[]
  /** It may answer no in place of its document. */
  readonly mayDecline: boolean
  /** The values of arguments by the fields that they set. */
  named(values: readonly unknown[]): Inputs
  /** What a format prints of an answer. */
  render(
    answer: Answer<unknown>,
    input: InputOf<Fields>,
    output: string,
    place: Pick<Context, 'cwd' | 'env'>,
  ): Promise<Shows>
  /** Runs it with these values of its fields, and writes the answer in a format of the command. */
  answer(given: Inputs, output: string, answering: AnswerParts): Promise<Omit<Printout, 'out'>>
}

/** With what a command answers. */
export interface AnswerParts {
  readonly context: Context
  readonly terminal: Terminal
  /** What does the work in place of the operation itself. */
  readonly source?: {
    readonly load: () => Promise<AnyWork>
    /** For an answer that cannot be shown. */
    readonly unreadable: Error
  }
}

/** Results for stdout, which may be all, and remarks for stderr, some `before` the results. */
export interface Shows {
  readonly before?: string
  /** A long one is in pieces. */
  readonly out: string | Iterable<string>
  readonly err: string
}

/** Where a command writes its result and asks for yes or no. */
export type Terminal = Pick<Io, 'out' | 'isTerminal' | 'ask'>

/** What a command printed, and its exit code. */
export interface Printout {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Prints that here, and returns the exit code. */
export function print({ code, out, err }: Printout, io: Pick<Io, 'out' | 'err'>): number {
  io.out(out)
  io.err(err)
  return code
}

/** The command with this name, such as `policy who`. */
export type FindCommand = (name: string) => Promise<Command | undefined>

/** Every command that users call, by group. */
export interface CommandSet {
  readonly commands: readonly CommandSpec[]
  readonly groups: readonly {
    readonly name: string
    readonly summary: string
    readonly commands: readonly CommandSpec[]
  }[]
  /** The options that every command has. */
  readonly common: Readonly<Record<string, OptionSpec>>
}

/** The command line cannot be understood: exit code 2, with the usage of the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The option of every command that reads a configuration. */
export const configOption = {
  config: {
    value: 'FILE',
    description:
      'configuration file (default: $POSTERN_CONFIG, else postern.yaml or config/postern.yaml)',
  },
} as const

/** The option `--output` of a command with these formats, of which text is the default. */
export function outputIn<const Formats extends readonly string[]>(choices: Formats) {
  const description = `output format: ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  return { output: { value: 'FORMAT', choices, default: 'text', description } } as const
}

/** The option of every command that also prints JSON. */
export const outputOption = outputIn(['text', 'json'])

/** The option of every command that also prints a long list line by line. */
export const linesOption = {
  output: {
    ...outputIn(['text', 'json', 'jsonl']).output,
    description: 'output format: text, json, or jsonl with one line of JSON for each entry',
  },
} as const

/** The option of every command whose result a CI system shows. */
export const reportOption = outputIn(['text', 'json', 'junit', 'sarif', 'markdown', 'github'])

/** The options that send a command to the console of a gateway. */
export const gatewayOptions = {
  gateway: {
    value: 'URL',
    once: true,
    description: 'console of a gateway (default: $POSTERN_GATEWAY)',
  },
  'ca-file': {
    value: 'FILE',
    description: 'certificates to trust instead of the system certificates',
  },
  'allow-http': {
    description: 'use http to an address that is not loopback: passwords are not encrypted',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>
