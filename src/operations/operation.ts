import type { TSchema, ValueOf } from '../config/schema/type.ts'
import type { Context } from './context.ts'
import { decline } from './declined.ts'

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
  /** The letter of an option. */
  readonly short?: string
  readonly choices?: readonly string[]
  readonly number?: NumberRange
  readonly default?: string
  /** The field must be given; the text tells the caller what to write. */
  readonly required?: string
  /** One value or several; the last argument of a command. */
  readonly many?: true
  /** The fields that replace it: it is required without them, and one too many with them. */
  readonly unless?: readonly string[]
  /** Callers over the network must give it. */
  readonly needed?: true
  /** Only callers on this machine may set it. */
  readonly local?: true
  /** Others must name a published policy: directories and commits are of this machine. */
  readonly published?: true
  /** Giving it twice is bad usage: a second domain or account would be ignored. */
  readonly once?: true
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

/** How an operation ended where it did not fail: an exit code of a command, a status of the API. */
export type Outcome = 'done' | 'no' | 'unavailable' | 'invalid' | 'testsFailed'

/** A document, what it does not say, and how the operation ended where it did not fail. */
export interface Answer<Document, Shown = unknown> {
  readonly document: Document
  /** What texts for people show and the document lacks, which programs rely on as it is. */
  readonly shown?: Shown
  /** Remarks for people. Those of a change say what was done, and come in every format. */
  readonly notes?: readonly string[]
  /** Absent: `done`. */
  readonly outcome?: Outcome
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

/** What a change would do, and the function that does exactly that or says what has changed since. */
export interface Reviewed<Plan, Document, Shown = unknown> extends Answer<Plan> {
  /** Why it must not or cannot be done, in one line or as the error: `commit` would fail with it. */
  readonly refusal?: string | Error
  /** The change needs no question: it does nothing, or exactly what the caller named. */
  readonly isSure?: boolean
  readonly commit: () => Promise<Answer<Document, Shown>>
}

type Review<
  Input extends Fields,
  Document extends TSchema,
  Plan extends TSchema,
  Shown = unknown,
> = (
  input: InputOf<Input>,
  context: Context,
) => Promise<Reviewed<ValueOf<Plan>, ValueOf<Document>, Shown>>

/** What does the work of an operation. */
export interface Work<Input extends Fields, Document extends TSchema, Shown, Plan extends TSchema> {
  readonly run: Run<Input, Document, Shown>
  /** Of a change that asks first: `run` commits without asking. */
  readonly review?: Review<Input, Document, Plan, Shown>
  /** The list in parts, for one that may not fit into memory. */
  readonly stream?: Stream<Input, Document>
}

/** A policy directory that callers over the network send as files, because directories are of their machine. */
interface Draft {
  /** The field that names the directory. */
  readonly field: string
  /** Without files it is not offered. */
  readonly isNeeded?: true
  /** Fields that make no sense for files, and those that must be given with them. */
  readonly without?: readonly string[]
  readonly needs?: readonly string[]
}

/**
 * Something that an operator can ask or change. Commands, the management API and the pages are views of
 * it: it prints nothing, and knows no argument list, exit code or HTTP status.
 */
export interface Description<
  Input extends Fields = Fields,
  Document extends TSchema = TSchema,
  Plan extends TSchema = TSchema,
> {
  /** The words of its command; with slashes between them, the path of the API. */
  readonly name: string
  /** A phrase without a period. */
  readonly summary: string
  /** Who may call it over the network; `local`: no caller. */
  readonly access: 'reader' | 'author' | 'publisher' | 'local'
  readonly kind: 'question' | 'change'
  /** It reads a policy, which takes CPU: a server runs it in the thread for questions. */
  readonly needsThread?: true
  /** The field whose value callers over the network repeat as `confirm`. */
  readonly confirms?: string
  readonly draft?: Draft
  readonly input: Input
  readonly document: Document
  /** What a change that asks first would do. */
  readonly plan?: Plan
}

/** Describes what may be asked: by readers unless `access` says otherwise. */
export function question<const Input extends Fields, Document extends TSchema>(
  description: Omit<Description<Input, Document>, 'access' | 'kind' | 'confirms' | 'plan'> &
    Partial<Pick<Description, 'access'>>,
): Description<Input, Document> {
  return { access: 'reader', ...description, kind: 'question' }
}

/** Describes what changes something: for publishers unless `access` says otherwise. With a `plan`, it asks first. */
export function change<
  const Input extends Fields,
  Document extends TSchema,
  Plan extends TSchema = never,
>(
  description: Omit<Description<Input, Document, Plan>, 'access' | 'kind'> &
    Partial<Pick<Description, 'access'>>,
): Description<Input, Document, Plan> {
  return { access: 'publisher', ...description, kind: 'change' }
}

/** Describes what is never offered over the network: a question unless `kind` says otherwise. */
export function local<
  const Input extends Fields,
  Document extends TSchema,
  Plan extends TSchema = never,
>(
  description: Omit<Description<Input, Document, Plan>, 'access' | 'kind' | 'confirms'> &
    Partial<Pick<Description, 'kind'>>,
): Description<Input, Document, Plan> {
  return { kind: 'question', ...description, access: 'local' }
}

export interface Operation<
  Input extends Fields,
  Document extends TSchema,
  Shown = unknown,
  Plan extends TSchema = TSchema,
> extends Description<Input, Document, Plan> {
  /** Loads what does the work: help and the list of operations need neither Redis nor a database. */
  readonly load: () => Promise<Work<Input, Document, Shown, Plan>>
}

/** Any operation, for programs that find one by its name. */
export interface AnyOperation extends Description {
  load(): Promise<AnyWork>
}

/** Methods, because each takes an input of its own: callers check it by the fields. */
export interface AnyWork {
  run(input: InputOf<Fields>, context: Context): Promise<Answer<unknown>>
  review?(input: InputOf<Fields>, context: Context): Promise<Reviewed<unknown, unknown>>
  stream?(input: InputOf<Fields>, context: Context, onPage: (page: unknown) => void): Promise<void>
}

/** One function of a module with several, for `implement`. */
export function functionsOf<Module>(load: () => Promise<Module>) {
  return <Name extends keyof Module>(name: Name) =>
    async () => ({ run: (await load())[name] })
}

/** Adds the module that does the work, which is loaded for that only. */
export function implement<Input extends Fields, Document extends TSchema, Shown>(
  description: Description<Input, Document>,
  load: () => Promise<Work<Input, Document, Shown, TSchema>>,
): Operation<Input, Document, Shown> {
  return { ...description, load }
}

/** Adds the module of a change that asks first: its `review` returns what commits. */
export function implementReview<
  Input extends Fields,
  Document extends TSchema,
  Plan extends TSchema,
  Shown,
>(
  description: Description<Input, Document, Plan>,
  load: () => Promise<{ readonly review: Review<Input, Document, Plan, Shown> }>,
): Operation<Input, Document, Shown, Plan> {
  return {
    ...description,
    load: async () => {
      const { review } = await load()
      const run: Run<Input, Document, Shown> = async (input, context) => {
        const { refusal, commit } = await review(input, context)
        return refusal === undefined ? commit() : decline(refusal)
      }
      return { review, run }
    },
  }
}

/** What implements a description. */
export type RunOf<Described, Shown = unknown> =
  Described extends Description<infer Input, infer Document> ? Run<Input, Document, Shown> : never

/** What implements a change that asks first. */
export type ReviewOf<Described, Shown = unknown> =
  Described extends Description<infer Input, infer Document, infer Plan>
    ? Review<Input, Document, Plan, Shown>
    : never

/** What a described operation answers. */
export type DocumentOf<Described> =
  Described extends Description<infer _, infer Document> ? ValueOf<Document> : never

/** The stream of a described question whose list comes in parts. */
export type StreamOf<Described> =
  Described extends Description<infer Input, infer Document> ? Stream<Input, Document> : never
