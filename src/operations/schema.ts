import { type TSchema, type TUnsafe, Type, type ValueOf } from '../config/schema/type.ts'

export const text = Type.String()
export const whole = Type.Integer()
export const number = Type.Number()
export const flag = Type.Boolean()
export const time = Type.String({ format: 'date-time' })

/** One of these words. Not an `enum`, because clients must expect new ones. Some lists are left out. */
export const word = <const Word extends string>(...known: readonly Word[]) =>
  typed<Word>(Type.String(known.length === 0 ? {} : { 'x-extensible-enum': known }))

/** A value that can be null. `description` says what null means. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/** A member that may be absent; its value may also say so. */
export const optional = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(schema as unknown as TUnsafe<ValueOf<Schema> | undefined>)

export const list = <Schema extends TSchema>(schema: Schema) => Type.Array(schema)

/** A schema of values whose type is said elsewhere. */
export const typed = <Value>(schema: TSchema) => schema as unknown as TUnsafe<Value>
