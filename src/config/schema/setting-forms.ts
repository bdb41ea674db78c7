import { Type } from 'typebox'
import { HEADER_NAME, UPSTREAM_NAME } from './patterns.ts'

/** A day, the longest that anything may be told to wait. */
export const DAY_MS = 86_400_000
/** The longest lifetime that can be configured, in seconds. */
export const TEN_YEARS_SECONDS = 315_360_000

/** The most bytes that can be configured for anything. */
export const TIB = 1_099_511_627_776

/** A group of settings: no other key, and every default when it is absent. */
export const section = <P extends Type.TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description })

/** A whole number with its default and its bounds. */
export const integer = (value: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: value, minimum, maximum, description })

/** Yes or no. */
export const flag = (value: boolean, description: string) =>
  Type.Boolean({ default: value, description })

/** A short text with its default. */
export const text = (value: string, description: string, pattern?: string) =>
  Type.String({ default: value, minLength: 1, maxLength: 1024, description, ...form(pattern) })

const form = (pattern: string | undefined) => (pattern === undefined ? {} : { pattern })

/** The name of a header that carries identity. */
export const headerName = (value: string, carries: string) =>
  text(
    value,
    `The name of the header that tells an upstream ${carries}, such as ${value}.`,
    HEADER_NAME,
  )

/** The path of a file. */
export const file = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1024, description })

/** Who answers an endpoint that can be handed over. */
export const endpoint = (name: string) =>
  text(
    'gateway',
    `Who answers ${name}: the word gateway, or the name of an upstream.`,
    UPSTREAM_NAME,
  )
