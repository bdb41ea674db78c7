/** What a command may touch. Results go to `out`, messages to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** All of standard input, as text. */
  readStdin(): Promise<string>
  /** The same piece by piece, as bytes. */
  streamStdin?(): AsyncIterable<Uint8Array>
  /** Whether a person watches `err` and can answer; absent: no. */
  readonly isTerminal?: boolean
  /** Asks that person for one line. */
  ask?(question: string): Promise<string>
  /** The name of the operating system's user. */
  readonly userName?: string
  /** Milliseconds since 1970; absent: the clock of the system. */
  now?(): number
  /** The CPU time of this thread in milliseconds; absent: the wall clock counts instead. */
  cpuMs?(): number
  /** The process that a gateway runs in: its signals, streams and exit. */
  readonly host?: NodeJS.Process
}
