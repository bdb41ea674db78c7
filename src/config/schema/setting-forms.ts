import { Type } from 'typebox'

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

/** An address or a host name to listen on. */
export const HOST = '^[0-9A-Za-z.:%_-]+$'
const REDIS_HOST = '(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?'
/** Where a Redis, its sentinels or a cluster is. */
export const REDIS_URL = [
  `^rediss?://([^@/]*@)?${REDIS_HOST}(/[0-9]{0,5})?$`,
  `^rediss?\\+sentinel://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/[^/?#]+(/[0-9]{0,5})?(\\?[^#]*)?$`,
  `^rediss?\\+cluster://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/?$`,
].join('|')
/** Scheme, host and port, as browsers write an origin. */
export const ORIGIN = '^https?://(\\[[0-9a-f:.]+\\]|[0-9a-z._-]+)(:[0-9]{1,5})?$'
/** What may stand in a Host header. */
export const HOST_HEADER = '^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?$'
/** The name of an upstream. */
export const UPSTREAM_NAME = '^[a-z][a-z0-9-]{0,62}$'
/** The name of a header (RFC 9110 5.6.2). */
export const HEADER_NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$"

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
