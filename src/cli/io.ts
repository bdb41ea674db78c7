import type { Surroundings } from '../operations/context.ts'

/** What a command may touch. Results go to `out`, messages to `err`. */
export interface Io extends Surroundings {
  out(text: string): void
  /** All of standard input, as text. */
  readStdin(): Promise<string>
  /** Standard input piece by piece, as bytes. */
  streamStdin?(): AsyncIterable<Uint8Array>
  /** Whether a person watches `err` and can answer; absent: no. */
  readonly isTerminal?: boolean
  /** Asks that person for one line. */
  ask?(question: string): Promise<string>
  /** Asks for one line, not shown if `isHidden`; `undefined` after Ctrl-C or the end of the input. */
  prompt?(question: string, options?: { readonly isHidden?: boolean }): Promise<string | undefined>
  /** The name of the operating system's user. */
  readonly userName?: string
  /** The process that a gateway runs in: its signals, streams and exit. */
  readonly host?: NodeJS.Process
  /** What runs until a signal stops it; absent: a program that only runs commands. */
  readonly programs?: Programs
}

/** The programs among the commands. They are put together after all commands, of everything there is. */
export interface Programs {
  readonly serve: Program<{ readonly config: string | undefined; readonly tour: boolean }>
  readonly console: Program<{ readonly config: string | undefined }>
  /** A process of the gateway. */
  readonly worker: Program<object>
}

type Program<Options> = (options: Options, io: Io) => Promise<number>

/** Throws where a test or the console runs commands. */
export function programsOf({ programs }: Io): Programs {
  if (programs === undefined) throw new Error('a gateway needs a process of its own')
  return programs
}
