import { STATUS_CODES } from 'node:http'
import { Type, type ValueOf } from '../config/schema/type.ts'
import { list, text, whole } from '../operations/schema.ts'

/** A request that the console does not serve, with its status and a text for its sender. */
export class Problem extends Error {
  readonly status: number
  /** Which problem it is, where the status alone does not say it. */
  readonly kind: string | undefined

  constructor(status: number, message: string, kind?: string) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.kind = kind
  }
}

/** The client has closed the connection before its answer was there. */
export class ClientGone extends Error {}

/** The media type of an error. */
export const problemType = 'application/problem+json; charset=utf-8'

/** How commands print errors; `kind` tells pages which one it is. */
export const errors = Type.Object({
  ok: Type.Literal(false),
  errors: list(
    Type.Object(
      {
        ...{ message: text, kind: Type.Optional(text), file: Type.Optional(text) },
        ...{ line: Type.Optional(whole), column: Type.Optional(whole), fix: Type.Optional(text) },
      },
      { title: 'ErrorEntry' },
    ),
  ),
})

const members = {
  type: Type.String({
    pattern: '^urn:postern:problem:[a-z-]+$',
    description: 'Which refusal or fault it is; it does not change.',
  }),
  ...{ title: text, status: whole },
  detail: Type.String({ description: 'What is wrong, in one line.' }),
} as const

/** What RFC 9457 has for an error. What a command printed besides stays a member of it. */
export const problem = Type.Object(
  {
    ...members,
    ok: Type.Optional(errors.properties.ok),
    errors: Type.Optional(errors.properties.errors),
  },
  { additionalProperties: true },
)
const inFull = Type.Object({ ...members, ...errors.properties })
type ProblemMembers = Pick<ValueOf<typeof inFull>, keyof typeof members>
/** An error that is not the document of a command. */
export type ErrorBody = ValueOf<typeof inFull>

/** `kind`: which refusal or fault it is, where the status alone does not say it. */
export function problemMembers(status: number, detail: string, kind?: string): ProblemMembers {
  const name = kind ?? kinds[status] ?? 'malformed-request'
  return {
    type: `urn:postern:problem:${name}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
  }
}

const kinds: Readonly<Record<number, string>> = {
  400: 'invalid-request',
  403: 'not-permitted',
  404: 'not-found',
  413: 'body-too-large',
  414: 'address-too-long',
  415: 'wrong-content-type',
  421: 'wrong-host',
  422: 'invalid-policy-or-configuration',
  429: 'too-many-requests',
  500: 'bug',
  503: 'unavailable',
  507: 'answer-too-long',
}
