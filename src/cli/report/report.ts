import { count, printable } from '../format.ts'

/** `error` must be fixed, `warning` deserves a look, `note` is information. */
export type Level = 'error' | 'warning' | 'note'

/** What a command found, as every format but text and JSON writes it. */
export interface Report {
  /** The words that call the command, such as `policy check`. */
  readonly command: string
  /** The result in a few words of ours, such as `access widens`. */
  readonly verdict: string
  /** The lines that text output ends with, such as the number of rules. */
  readonly summary: readonly string[]
  /** The command could not answer: its files are invalid, or Redis is unreachable. */
  readonly isUnanswered?: boolean
  /** The lowest level that makes the command fail. */
  readonly failsAt: 'error' | 'warning'
  /** Everything that the command looks for, by a stable id. */
  readonly rules: Readonly<Record<string, ReportRule>>
  readonly results: readonly Result[]
  /** Test cases for JUnit. Unset: one for each rule. */
  readonly suites?: readonly Suite[]
}

/** One thing that a command looks for. */
export interface ReportRule {
  /** A sentence: what it is. */
  readonly summary: string
  /** Sentences: why it matters, and what to do. */
  readonly help: string
}

/** The rules of a table of kinds, by their ids. */
export function rulesOf(kinds: Readonly<Record<string, ReportRule & { readonly id: string }>>) {
  return Object.fromEntries(
    Object.values(kinds).map(({ id, summary, help }) => [id, { summary, help }]),
  )
}

/** One thing that a command found. */
export interface Result {
  /** A key of `Report.rules`. */
  readonly rule: string
  readonly level: Level
  readonly message: string
  /** Relative to the working directory. Unset when no file of the user is concerned. */
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** The line itself, which identifies the result while line numbers change. */
  readonly text?: string
  /** Access that a role gains or loses. The message says where. */
  readonly sign?: '+' | '-'
}

/** Test cases that belong together, such as those of one test file. */
export interface Suite {
  readonly name: string
  readonly cases: readonly Case[]
}

/** A test case. Without failures and errors it passed. */
export interface Case {
  readonly name: string
  readonly className: string
  readonly file?: string
  readonly line?: number
  readonly failures?: readonly string[]
  readonly errors?: readonly string[]
  /** What it found without failing. */
  readonly notes?: readonly string[]
}

const severity: Readonly<Record<Level, number>> = { error: 0, warning: 1, note: 2 }

/** Whether this result makes the command fail. */
export function isFailing({ level }: Result, { failsAt }: Report): boolean {
  return severity[level] <= severity[failsAt]
}

/** Most severe first, otherwise in the order of the report. */
export function bySeverity(results: readonly Result[]): readonly Result[] {
  return results.toSorted((a, b) => severity[a.level] - severity[b.level])
}

/** `file:line:column`; `undefined` without a file. */
export function placeOf({ file, line, column }: Result): string | undefined {
  return file && [file, line, column].filter((part) => part !== undefined).join(':')
}

/** `1 error, 2 warnings`. Empty without results, and for gains and losses: those are not errors. */
export function countLevels(results: readonly Result[]): string {
  if (results.every(({ sign }) => sign !== undefined)) return ''
  const levels = Map.groupBy(bySeverity(results), ({ level }) => level)
  return Array.from(levels, ([level, some]) => count(some.length, level)).join(', ')
}

/** A text from files as one line of bounded length: one value must not fill a whole report. */
export function oneLine(text: string, max: number): string {
  const shown = printable(text)
  return (shown.length <= max ? shown : `${shown.slice(0, max - 1)}…`).toWellFormed()
}
