/** What a command may touch: its answer goes to `out`, its talk to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** All of standard input, as text. */
  readStdin(): Promise<string>
  /** Whether a person watches `err` and can be asked; absent: nobody does. */
  readonly isTerminal?: boolean
  /** Asks that person for one line. */
  ask?(question: string): Promise<string>
  /** Who runs the command, by the operating system. */
  readonly userName?: string
}

/** A command: arguments in, exit code out. 0 yes, 1 no or fault, 2 bad arguments, 3 invalid. */
export type Command = (args: readonly string[], io: Io) => Promise<number>
