import { Type } from 'typebox'
import {
  HEADER_NAME,
  NOT_BLANK,
  ORIGIN_OR_ANY,
  PRINTABLE,
  PROTOCOL,
  UPSTREAM_NAME,
} from './patterns.ts'
import { DAY_MS, flag, headerName, integer, section, text } from './setting-builders.ts'

export const route = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'Path prefix, such as /api/v1/orders: the route covers this path and everything below it.',
    }),
    upstream: Type.Optional(
      Type.String({
        pattern: UPSTREAM_NAME,
        description:
          'Name of the upstream that serves the route, as defined under upstreams. Unset: allowed with forwardAuth only, where another proxy forwards.',
      }),
    ),
    access: Type.Enum(['permitted', 'authenticated', 'public'], {
      default: 'permitted',
      description:
        'What a request needs. permitted: a valid token and permission; authenticated: a valid token; public: neither.',
    }),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        pattern: NOT_BLANK,
        description: 'Why the route is this open. Required on public routes. Unset: no reason.',
      }),
    ),
    replacePrefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'Prefix that replaces path in requests to the upstream; / removes it. Unset: the path stays as it is.',
      }),
    ),
    allow: Type.Optional(
      Type.Object(
        {
          encodedSlash: flag(false, 'Accept %2F in a path, as part of a segment.'),
          semicolon: flag(false, 'Accept ; in a path, as part of a segment.'),
        },
        {
          additionalProperties: false,
          description:
            'Characters to accept in paths of this route although servers interpret them differently. Unset: such paths are rejected.',
        },
      ),
    ),
    unexpectedBody: Type.Enum(['forward', 'reject'], {
      default: 'forward',
      description:
        'What to do with a body on GET, HEAD, OPTIONS or DELETE. forward: send it on a connection that is closed afterwards; reject: answer 400.',
    }),
    passHeaders: Type.Optional(
      Type.Array(Type.String({ pattern: HEADER_NAME, description: 'Name of a request header.' }), {
        maxItems: 100,
        uniqueItems: true,
        description:
          'Client headers of the families X-Accel-*, X-Sendfile*, X-Envoy-* and X-Middleware-* to forward on this route. Unset: none of them.',
      }),
    ),
    forwardCredentials: flag(false, "Forward the caller's token to the upstream."),
    limit: Type.Optional(
      Type.Object(
        {
          requests: Type.Integer({
            minimum: 1,
            maximum: 1_000_000_000,
            description: 'Maximum number of requests per window, for one caller or address.',
          }),
          seconds: integer(60, 1, 86_400, 'Length of the window, in seconds.'),
          by: Type.Enum(['caller', 'address'], {
            default: 'caller',
            description:
              'What requests are counted by: caller or address. Public routes require address.',
          }),
        },
        {
          additionalProperties: false,
          description: 'Rate limit of the route. Unset: no limit.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'Path prefix and the upstream that serves it.' },
)

export const corsSettings = section('CORS: pages of other origins that may send requests.', {
  origins: Type.Array(
    Type.String({
      maxLength: 256,
      pattern: ORIGIN_OR_ANY,
      description:
        'Origin as browsers send it, such as https://app.example.com, without a path; or * for all.',
    }),
    {
      default: [],
      maxItems: 1000,
      uniqueItems: true,
      description: 'Origins whose pages may read responses. Empty: Postern does not handle CORS.',
    },
  ),
  methods: Type.Array(
    Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], {
      description: 'HTTP method.',
    }),
    {
      default: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: 'Methods that those pages may use.',
    },
  ),
  headers: Type.Array(
    Type.String({ pattern: HEADER_NAME, description: 'Name of a request header.' }),
    {
      default: ['Authorization', 'Content-Type'],
      maxItems: 100,
      uniqueItems: true,
      description: 'Request headers that those pages may set.',
    },
  ),
  exposeHeaders: Type.Array(
    Type.String({ pattern: HEADER_NAME, description: 'Name of a response header.' }),
    {
      default: ['Retry-After'],
      maxItems: 100,
      uniqueItems: true,
      description: 'Response headers that those pages may read, besides the CORS-safelisted ones.',
    },
  ),
  credentials: flag(false, 'Allow browsers to send cookies with those requests.'),
  maxAgeSeconds: integer(
    600,
    0,
    86_400,
    'Time for which browsers may cache a preflight response, in seconds.',
  ),
})

export const headersSettings = section('Names of the headers that tell upstreams who calls.', {
  userId: headerName('X-User-Id', 'the user ID'),
  roleKey: headerName('X-Role-Key', 'the role key'),
  dataScope: headerName('X-Data-Scope', 'the data scope'),
  userName: headerName('X-User-Name', 'the user name'),
  roleId: headerName('X-Role-Id', 'the role ID'),
  requestId: headerName('X-Request-Id', 'the request ID'),
})

export const identitySettings = section('Caller identity that upstreams can verify themselves.', {
  assertion: section(
    'Short-lived JWT about the caller, verifiable with the public keys of the ops listener.',
    {
      enabled: flag(
        false,
        'Send an assertion with every request that has a caller. Requires jwt.keyDirectory.',
      ),
      header: headerName('X-Postern-Assertion', 'the assertion'),
      issuer: text('postern', 'Issuer of assertions, in the claim iss.', PRINTABLE),
      audience: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          pattern: PRINTABLE,
          description:
            'Audience of assertions, in the claim aud. Required with forwardAuth. Unset: the name of the upstream.',
        }),
      ),
      lifetimeSeconds: integer(60, 10, 3600, 'Lifetime of an assertion, in seconds.'),
    },
  ),
})

export const upgradesSettings = section('Upgraded connections, such as WebSocket.', {
  protocols: Type.Array(
    Type.String({
      pattern: PROTOCOL,
      description: 'Protocol as in the Upgrade header, in lower case.',
    }),
    {
      default: ['websocket'],
      maxItems: 16,
      uniqueItems: true,
      description:
        'Protocols that clients may upgrade to, after the same checks as for any request.',
    },
  ),
  idleTimeoutMs: integer(
    300_000,
    1,
    DAY_MS,
    'Idle timeout of upgraded connections, in milliseconds.',
  ),
})
