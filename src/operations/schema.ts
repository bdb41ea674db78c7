import { type TSchema, Type } from '../config/schema/type.ts'

export const text = Type.String()
export const whole = Type.Integer()
export const flag = Type.Boolean()
export const time = Type.String({ format: 'date-time' })

/** A value that can be null. `description` says what null means. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
