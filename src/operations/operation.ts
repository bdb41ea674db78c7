import type { TSchema, ValueOf } from '../config/schema/type.ts'
import type { Context } from './context.ts'

interface NumberRange {
  readonly min: number
  readonly max?: number
  readonly integer?: true
}

/** One thing that a caller may say: an option or argument of a command, a parameter of the API. */
export interface Field {
  readonly description: string
  /** The placeholder of its value, such as FILE. A field without one is a flag. */
  readonly value?: string
  /** What it may be, as a placeholder such as `DIR|live`, where `value` does not say it. */
  readonly accepts?: string
  readonly choices?: readonly string[]
  readonly number?: NumberRange
  readonly default?: string
  /** The field must be given; the text tells the caller what to write. */
  readonly required?: string
  /** Only callers on this machine may set it. */
  readonly local?: true
  /** Others must name a published policy: directories and commits are of this machine. */
  readonly published?: true
  /** Giving it twice is bad usage: a second domain or account would be ignored. */
  readonly once?: true
  /** One value or several; the last argument of a command. */
  readonly many?: true
  /** The fields that replace it: it is required without them, and one too many with them. */
  readonly unless?: readonly string[]
}

export type Fields = Readonly<Record<string, Field>>

/** One of the choices, where there are some. */
export type OneOf<Of> = Of extends { readonly choices: readonly (infer Choice)[] } ? Choice : string

type FieldValue<Of> = Of extends { readonly many: true }
  ? readonly string[]
  : Of extends { readonly value: string }
    ?
        | (Of extends { readonly number: NumberRange } ? number : OneOf<Of>)
        | (Of extends { readonly default: string } | { readonly required: string }
            ? never
            : undefined)
    : boolean

/** The values of all fields, by name. */
export type InputOf<Input extends Fields> = {
  readonly [Name in keyof Input]: FieldValue<Input[Name]>
}

/** A document, what it does not say, and how the operation ended where it did not fail. */
export interface Answer<Document, Shown = unknown> {
  readonly document: Document
  /** What texts for people show and the document lacks, which programs rely on as it is. */
  readonly shown?: Shown
  readonly notes?: readonly string[]
  /** An exit code of a command, a status of the API; absent: `done`. */
  readonly outcome?: 'done' | 'no' | 'invalid' | 'testsFailed' | 'unavailable'
}

type Run<Input extends Fields, Document extends TSchema, Shown = unknown> = (
  input: InputOf<Input>,
  context: Context,
) => Promise<Answer<ValueOf<Document>, Shown>>

type Stream<Input extends Fields, Document extends TSchema> = (
  input: InputOf<Input>,
  context: Context,
  onPage: (page: ValueOf<Document>) => void,
) => Promise<void>

/** What does the work of an operation. */
interface Work<Input extends Fields, Document extends TSchema, Shown> {
  readonly run: Run<Input, Document, Shown>
  /** The same list in parts, for one that may not fit into memory. */
  readonly stream?: Stream<Input, Document>
}

/**
 * Something that an operator can ask or change. Commands, the management API and the pages are views of
 * it: it prints nothing, and knows no argument list, exit code or HTTP status.
 */
export interface Description<Input extends Fields = Fields, Document extends TSchema = TSchema> {
  /** The words of its command; with slashes between them, the path of the API. */
  readonly name: string
  /** A phrase without a period. */
  readonly summary: string
  /** Paragraphs below the summary. */
  readonly details?: string
  /** Who may call it over the network. */
  readonly access: 'reader' | 'author' | 'publisher'
  readonly kind: 'question' | 'change'
  /** It reads a policy, which takes CPU: a server runs it in the thread for questions. */
  readonly needsThread?: true
  readonly input: Input
  readonly document: Document
}

/** Describes what readers may ask. */
export function question<const Input extends Fields, Document extends TSchema>(
  description: Omit<Description<Input, Document>, 'access' | 'kind'>,
): Description<Input, Document> {
  return { ...description, access: 'reader', kind: 'question' }
}

export interface Operation<Input extends Fields, Document extends TSchema, Shown = unknown>
  extends Description<Input, Document> {
  /** Loads what does the work: help and the list of operations need neither Redis nor a database. */
  readonly load: () => Promise<Work<Input, Document, Shown>>
}

/** Adds the module that does the work, which is loaded for that only. */
export function implement<Input extends Fields, Document extends TSchema, Shown>(
  description: Description<Input, Document>,
  load: () => Promise<Work<Input, Document, Shown>>,
): Operation<Input, Document, Shown> {
  return { ...description, load }
}

/** What implements a description. */
export type RunOf<Described, Shown = unknown> =
  Described extends Description<infer Input, infer Document> ? Run<Input, Document, Shown> : never

/** What a described operation answers. */
export type DocumentOf<Described> =
  Described extends Description<infer _, infer Document> ? ValueOf<Document> : never

/** The same for a list in parts. */
export type StreamOf<Described> =
  Described extends Description<infer Input, infer Document> ? Stream<Input, Document> : never
