import type { Static, TSchema, TUnsafe, Type as TypeBox } from 'typebox'

type Schema = object
type Options = Readonly<Record<string, unknown>>

/** Schemas that a section may lack. */
const optional = new WeakSet<Schema>()

const builders = {
  String: (options: Options = {}) => ({ type: 'string', ...options }),
  Number: (options: Options = {}) => ({ type: 'number', ...options }),
  Integer: (options: Options = {}) => ({ type: 'integer', ...options }),
  Boolean: (options: Options = {}) => ({ type: 'boolean', ...options }),
  Null: () => ({ type: 'null' }),
  Unknown: (options: Options = {}) => ({ ...options }),
  Literal: (value: string | boolean, options: Options = {}) => {
    return { type: typeof value, const: value, ...options }
  },
  Enum: (values: readonly (string | number)[], options: Options = {}) => {
    return { enum: values, ...options }
  },
  Union: (anyOf: readonly Schema[], options: Options = {}) => ({ anyOf, ...options }),
  Array: (items: Schema, options: Options = {}) => ({ type: 'array', items, ...options }),
  Record: ({ pattern }: { readonly pattern: string }, value: Schema, options: Options = {}) => {
    return { type: 'object', patternProperties: { [pattern]: value }, ...options }
  },
  Object: (properties: Readonly<Record<string, Schema>>, options: Options = {}) => {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}))
    const listed = required.length === 0 ? {} : { required }
    return { type: 'object', ...listed, properties, ...options }
  },
  Optional: (schema: Schema) => {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
}

/**
 * The part of TypeBox that settings and operations use, with its types: they are all that is needed of
 * it. Loading it takes longer than loading all other settings code.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** The values that a schema accepts, deeply frozen. */
export type ValueOf<Schema extends TSchema> = DeepReadonly<Static<Schema>>
export type { TSchema, TUnsafe }
