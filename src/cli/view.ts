import type { TSchema, ValueOf } from '../config/schema/type.ts'
import type { Context } from '../operations/context.ts'
import type { Answer, Description, Fields, InputOf } from '../operations/operation.ts'
import type { Printout, Shows, Terminal } from './command.ts'
import { printable } from './format.ts'

/** The formats of a document, by name. JSON is the document itself unless a view says otherwise. */
export type View<Input extends Fields, Document extends TSchema, Shown = unknown> = {
  readonly text: Format<Input, Document, Shown>
} & Readonly<Record<string, Format<Input, Document, Shown>>>

/** What a format prints of an answer. */
type Format<Input extends Fields, Document extends TSchema, Shown> = (
  answer: Answer<ValueOf<Document>, Shown>,
  input: InputOf<Input>,
  place: Pick<Context, 'cwd' | 'env'>,
) => string | Iterable<string> | Shows

/** The views of a described operation. */
export type ViewOf<Described, Shown = unknown> =
  Described extends Description<infer Input, infer Document> ? View<Input, Document, Shown> : never

/** What a person reads before a change, and what they are asked. */
export interface Prompt<Input, Plan> {
  /** What would happen, for stderr. */
  readonly shown?: (reviewed: Answer<Plan>, input: Input) => string
  /** What `--dry-run` prints in place of the change. */
  readonly dryRun?: (reviewed: Answer<Plan>, input: Input) => Pick<Printout, 'out' | 'err'>
  readonly words: (
    plan: Plan,
    input: Input,
  ) => {
    /** Without "Type yes". */
    readonly question: string
    /** What to do where no person can be asked. */
    readonly unasked: string
    /** What is said after no; absent: nothing. */
    readonly declined?: string
  }
  /** Asks in another way, such as for a code from an app. Throws unless the change may be made. */
  readonly talk?: (
    reviewed: Answer<Plan>,
    input: Input,
    person: {
      readonly output: string
      readonly terminal: Terminal
      readonly err: (text: string) => void
    },
  ) => Promise<void>
}

/** The prompt of a described change. */
export type PromptOf<Described> =
  Described extends Description<infer Input, infer _, infer Plan>
    ? Prompt<InputOf<Input>, ValueOf<Plan>>
    : never

/** What an answer does not consider, as lines for stderr. */
export function noteLines(notes: readonly string[]): string {
  return notes.map((note) => `note: ${printable(note)}\n`).join('')
}

/** Notes as lines for stderr; those that say so themselves are no message of the command. */
export function warnings(notes: readonly string[] = []): string {
  const prefix = (note: string) => (note.startsWith('note: ') ? '' : 'postern: ')
  return notes.map((note) => `${prefix(note)}${printable(note)}\n`).join('')
}
