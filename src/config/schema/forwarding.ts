import { Type } from 'typebox'
import {
  HEADER_NAME,
  NOT_BLANK,
  ORIGIN_OR_ANY,
  PRINTABLE,
  PROTOCOL,
  UPSTREAM_NAME,
} from './patterns.ts'
import { DAY_MS, flag, headerName, integer, section, text } from './setting-forms.ts'

/** A path and where it leads. */
export const route = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'The path this route covers, with everything below it, such as /api/v1/orders.',
    }),
    upstream: Type.Optional(
      Type.String({
        pattern: UPSTREAM_NAME,
        description:
          'The name, under upstreams, of the service that answers this route; only forwardAuth does without.',
      }),
    ),
    access: Type.Enum(['permitted', 'authenticated', 'public'], {
      default: 'permitted',
      description:
        'permitted asks for identity and permission, authenticated for identity only, public for neither.',
    }),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        pattern: NOT_BLANK,
        description: 'Why the route is as open as it is; a public route cannot do without.',
      }),
    ),
    replacePrefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'What takes the place of the path above on the way to the upstream; / takes it off.',
      }),
    ),
    allow: Type.Optional(
      Type.Object(
        {
          encodedSlash: flag(false, 'Whether %2F may stand in a path, as part of a segment.'),
          semicolon: flag(false, 'Whether ; may stand in a path, as part of a segment.'),
        },
        {
          additionalProperties: false,
          description:
            'What paths of this route may have in them although servers differ on what it means.',
        },
      ),
    ),
    unexpectedBody: Type.Enum(['forward', 'reject'], {
      default: 'forward',
      description:
        'What to do with a body on GET, HEAD, OPTIONS or DELETE: forward it on a connection that is closed afterwards, or reject the request with 400.',
    }),
    passHeaders: Type.Optional(
      Type.Array(
        Type.String({ pattern: HEADER_NAME, description: 'One request header, by name.' }),
        {
          maxItems: 100,
          uniqueItems: true,
          description:
            'Client headers of the families X-Accel-*, X-Sendfile*, X-Envoy-* and X-Middleware-* to forward on this route; unset forwards none of them.',
        },
      ),
    ),
    forwardCredentials: flag(false, "Whether the caller's own token is passed on to the upstream."),
    limit: Type.Optional(
      Type.Object(
        {
          requests: Type.Integer({
            minimum: 1,
            maximum: 1_000_000_000,
            description: 'The most requests from one caller or address in that time.',
          }),
          seconds: integer(60, 1, 86_400, 'The length of the time in which they are counted.'),
          by: Type.Enum(['caller', 'address'], {
            default: 'caller',
            description:
              'Whose requests are counted together; a public route knows addresses only.',
          }),
        },
        {
          additionalProperties: false,
          description: 'How many requests the route takes; without it, as many as come.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'A path and the upstream behind it.' },
)

/** Pages of other origins. */
export const corsSettings = section('Pages of other origins that may call, in a browser.', {
  origins: Type.Array(
    Type.String({
      maxLength: 256,
      pattern: ORIGIN_OR_ANY,
      description: 'One origin, as browsers write it: https://app.example.com, no path; or *.',
    }),
    {
      default: [],
      maxItems: 1000,
      uniqueItems: true,
      description: 'Whose pages may read answers; none, and Postern leaves CORS alone.',
    },
  ),
  methods: Type.Array(
    Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], {
      description: 'One method.',
    }),
    {
      default: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: 'The methods that those pages may call with.',
    },
  ),
  headers: Type.Array(
    Type.String({ pattern: HEADER_NAME, description: 'One request header, by name.' }),
    {
      default: ['Authorization', 'Content-Type'],
      maxItems: 100,
      uniqueItems: true,
      description: 'The request headers that those pages may set.',
    },
  ),
  exposeHeaders: Type.Array(
    Type.String({ pattern: HEADER_NAME, description: 'One response header, by name.' }),
    {
      default: ['Retry-After'],
      maxItems: 100,
      uniqueItems: true,
      description: 'The response headers that those pages may read, besides the simple ones.',
    },
  ),
  credentials: flag(false, 'Whether browsers may send cookies along with those calls.'),
  maxAgeSeconds: integer(600, 0, 86_400, 'How long browsers may remember a preflight.'),
})

/** The names of identity headers. */
export const headersSettings = section('The names under which an upstream learns who calls.', {
  userId: headerName('X-User-Id', 'the user ID'),
  roleKey: headerName('X-Role-Key', 'the role key'),
  dataScope: headerName('X-Data-Scope', 'the data scope'),
  userName: headerName('X-User-Name', 'the user name'),
  roleId: headerName('X-Role-Id', 'the role ID'),
  requestId: headerName('X-Request-Id', 'the request ID'),
})

/** Signed identity. */
export const identitySettings = section('What an upstream can check for itself about who calls.', {
  assertion: section('A short-lived JWT of the caller, verifiable by the public keys.', {
    enabled: flag(false, 'Whether upstreams get one with every call that has a caller.'),
    header: headerName('X-Postern-Assertion', 'who calls, signed'),
    issuer: text('postern', 'What the claim iss says.', PRINTABLE),
    audience: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: PRINTABLE,
        description:
          'What the claim aud says; without it the name of the upstream that the call goes to.',
      }),
    ),
    lifetimeSeconds: integer(60, 10, 3600, 'How many seconds one is valid.'),
  }),
})

/** Other protocols. */
export const upgradesSettings = section(
  'Connections that go on in another protocol, such as WebSocket.',
  {
    protocols: Type.Array(
      Type.String({
        pattern: PROTOCOL,
        description: 'A protocol as the Upgrade header names it, in small letters.',
      }),
      {
        default: ['websocket'],
        maxItems: 16,
        uniqueItems: true,
        description: 'The protocols that clients may go on in, after the same checks as a request.',
      },
    ),
    idleTimeoutMs: integer(300_000, 1, DAY_MS, 'How long such a connection may be silent.'),
  },
)
