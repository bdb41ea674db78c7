/** What a peer can use of the run that it is part of. */
export interface Setting {
  /** Where to listen, on 127.0.0.1. */
  readonly port: number
  /** Where the upstream listens. */
  readonly upstreamPort: number
  /** A directory of its own, for its files and its log. */
  readonly directory: string
  /** Whether clients speak TLS. */
  readonly tls: boolean
  /** The PEM files for that. */
  readonly certificate: string
  readonly key: string
}

/** How to start it. */
export interface Launch {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Something to measure. */
export interface Peer {
  readonly name: string
  /** For the tables. */
  readonly title: string
  /** `plain` checks nothing, `checked` does the same job, `ours` is Postern. */
  readonly kind: 'plain' | 'checked' | 'ours'
  /** How many rules it decides by. */
  readonly rules?: number
  /** How many processes answer requests, where it is not one: each has to be warmed up. */
  readonly processes?: number
  /** The workloads it is measured with, where not all of them say something. */
  readonly only?: readonly string[]
  /** The program and its version. */
  version(): string
  /** Why it cannot be had here, if it cannot. */
  absent(): string | undefined
  /** Writes its files and says what to start. */
  prepare(setting: Setting): Promise<Launch>
  /** What is left to do once it listens. */
  ready?(port: number, tls: boolean): Promise<void>
}
