import type { TProperties, TSchema } from 'typebox'
import { HEADER_NAME, HOST, HOST_PATTERN, UPSTREAM_NAME } from './patterns.ts'
import { Type } from './type.ts'

/** The upper bound of every timeout. */
export const DAY_MS = 86_400_000
export const DAY_SECONDS = 86_400
/** The upper bound of every lifetime. */
export const TEN_YEARS_SECONDS = 315_360_000

/** The upper bound of every size. */
export const TIB = 1_099_511_627_776

/** A group of settings that rejects unknown keys. When absent, it has every default. */
export const section = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description })

/** A section that a reload of the configuration applies as a whole. What has no `reloads` needs a restart. */
export const reloading = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, default: {}, reloads: true, description })

/** A group of settings that rejects unknown keys. When absent, nothing of it has a default. */
export const group = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, description })

export const optionalGroup = <P extends TProperties>(description: string, properties: P) =>
  Type.Optional(group(description, properties))

interface Bounds {
  readonly from: number
  readonly to: number
}

export const integer = (
  { default: value, from, to }: Bounds & { readonly default: number },
  description: string,
) => Type.Integer({ default: value, minimum: from, maximum: to, description })

export const reloadingInteger = (
  { default: value, from, to }: Bounds & { readonly default: number },
  description: string,
) => Type.Integer({ default: value, minimum: from, maximum: to, reloads: true, description })

/** A time of at most a day; its description says the unit. */
export const milliseconds = (value: number, from: number, what: string) =>
  integer({ default: value, from, to: DAY_MS }, `${what}, in milliseconds.`)

export const optionalInteger = ({ from, to }: Bounds, description: string) =>
  Type.Optional(Type.Integer({ minimum: from, maximum: to, description }))

export const flag = (value: boolean, description: string) =>
  Type.Boolean({ default: value, description })

/** One of these texts. The first is the default. */
export const choice = <Values extends string[]>(
  values: readonly [...Values],
  description: string,
) => Type.Enum<Values>(values, { default: values[0], description })

interface ListOptions {
  readonly default?: readonly string[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly reloads?: boolean
}

/** A list without duplicates. */
export const list = <Item extends TSchema>(item: Item, options: ListOptions, description: string) =>
  Type.Array(item, { ...options, uniqueItems: true, description })

export const optionalList = <Item extends TSchema>(
  item: Item,
  options: ListOptions,
  description: string,
) => Type.Optional(list(item, options, description))

interface TextOptions {
  readonly default?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly writeOnly?: boolean
  readonly isPath?: boolean
  readonly noPath?: string
}

export const string = (options: TextOptions, description: string) =>
  Type.String({ ...options, description })

export const optionalString = (options: TextOptions, description: string) =>
  Type.Optional(string(options, description))

export const text = (value: string, description: string, pattern?: string) =>
  Type.String({ default: value, minLength: 1, maxLength: 1024, description, ...form(pattern) })

const form = (pattern: string | undefined) => (pattern === undefined ? {} : { pattern })

/** Where a listener binds to. `more` goes on about the host. */
export const listening = (what: string, address: string, port: number, more = '') => ({
  host: text(
    address,
    `Address or host name that the ${what} binds to, without port or brackets.${more}`,
    HOST,
  ),
  port: integer({ default: port, from: 0, to: 65_535 }, `Port of the ${what}. 0: any free port.`),
})

/** A setting for the name of a header that carries identity. */
export const headerName = (value: string, carries: string) =>
  text(value, `Name of the header that carries ${carries}.`, HEADER_NAME)

/** A setting for the path of a file. */
export const file = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1024, isPath: true, description })

export const optionalFile = (description: string) => Type.Optional(file(description))

/** The files of a listener with TLS. */
export const certificateFiles = {
  certFile: file('Path of the PEM certificate chain. Reloaded when the file changes.'),
  keyFile: file('Path of the PEM private key of the certificate. Reloaded when the file changes.'),
}

/** A setting for the path of a directory. */
export const directory = (value: string, description: string) =>
  Type.String({ default: value, minLength: 1, maxLength: 1024, isPath: true, description })

/** An optional setting for hosts of requests, with one of them as an example. */
export const hostNames = (example: string, description: string) =>
  optionalList(
    string(
      { maxLength: 253, pattern: HOST_PATTERN },
      `Host name such as ${example}, or *.example.com for every name below example.com.`,
    ),
    { minItems: 1, maxItems: 100 },
    description,
  )

/** A setting for an endpoint that an upstream can serve. */
export const endpoint = (name: string) =>
  text(
    'gateway',
    `What serves ${name}: gateway (Postern itself), or the name of an upstream.`,
    UPSTREAM_NAME,
  )
