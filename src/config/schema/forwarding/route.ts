import { COOKIE_NAME, HEADER_NAME, NOT_BLANK, UPSTREAM_NAME } from '../patterns.ts'
import {
  flag,
  group,
  integer,
  optionalGroup,
  optionalInteger,
  optionalString,
  string,
} from '../setting-builders.ts'
import { Type } from '../type.ts'
import { headerShapingSettings } from './route-headers.ts'
import { routeMatch } from './route-match.ts'
import { shapingSettings } from './route-shaping.ts'

/** Whether the clients of a route stay with a target. */
const sticky = optionalGroup(
  'Send the requests of a client to the same target of the upstream while that is available. {}: by cookie. Unset: every request goes to the target that balance chooses.',
  {
    by: Type.Enum(['cookie', 'user'], {
      default: 'cookie',
      description:
        'What a client is recognized by. cookie: a cookie that the gateway sets; user: the user ID in the token, which public routes do not have.',
    }),
    cookie: optionalString(
      { pattern: COOKIE_NAME },
      'Name of the cookie. Upstreams never get a cookie with this name. Unset: postern-target.',
    ),
    seconds: optionalInteger(
      { from: 1, to: 31_536_000 },
      'How long browsers keep the cookie, in seconds. Unset: until the browser is closed.',
    ),
  },
)

export const route = group('Path prefix and the upstream that serves it.', {
  path: string(
    { minLength: 1, maxLength: 1024 },
    'Path prefix, such as /api/v1/orders: the route covers this path and everything below it, unless match is exact.',
  ),
  ...routeMatch,
  upstream: optionalString(
    { pattern: UPSTREAM_NAME },
    'Name of the upstream that serves the route, as defined under upstreams. Unset: allowed with forwardAuth only, where another proxy forwards.',
  ),
  access: Type.Enum(['permitted', 'authenticated', 'public'], {
    default: 'permitted',
    description:
      'What a request needs. permitted: a valid token and permission; authenticated: a valid token; public: neither.',
  }),
  reason: optionalString(
    { minLength: 1, maxLength: 1024, pattern: NOT_BLANK },
    'Why the route is this open. Required on public routes. Unset: no reason.',
  ),
  replacePrefix: optionalString(
    { minLength: 1, maxLength: 1024 },
    'Prefix that replaces path in requests to the upstream; / removes it. Unset: the path stays as it is.',
  ),
  allow: optionalGroup(
    'Characters to accept in paths of this route although servers interpret them differently. Unset: such paths are rejected.',
    {
      encodedSlash: flag(false, 'Accept %2F in a path, as part of a segment.'),
      semicolon: flag(false, 'Accept ; in a path, as part of a segment.'),
      encodedPercent: flag(false, 'Accept %25 in a path, as in 100%25.txt.'),
      encodedHash: flag(false, 'Accept %23 in a path, as in C%23.md.'),
      encodedQuestionMark: flag(false, 'Accept %3F in a path, as in why%3F.md.'),
    },
  ),
  unexpectedBody: Type.Enum(['forward', 'reject'], {
    default: 'forward',
    description:
      'What to do with a body on GET, HEAD, OPTIONS or DELETE. forward: send it on a connection that is closed afterwards; reject: answer 400.',
  }),
  passHeaders: Type.Optional(
    Type.Array(string({ pattern: HEADER_NAME }, 'Name of a request header.'), {
      maxItems: 100,
      uniqueItems: true,
      description:
        'Client headers of the families X-Accel-*, X-Sendfile*, X-Envoy-* and X-Middleware-* to forward on this route. Unset: none of them.',
    }),
  ),
  rewriteLocation: Type.Enum(['off', 'upstream'], {
    default: 'off',
    description:
      "What to do with Location and Content-Location of responses. upstream: turn the upstream's own address into a path of this route, and undo replacePrefix; off: relay them unchanged.",
  }),
  carriers: Type.Optional(
    Type.Array(Type.Enum(['header', 'query', 'cookie'], { description: 'Carrier of a token.' }), {
      maxItems: 3,
      uniqueItems: true,
      description:
        "Where this route looks for the caller's token: header (Authorization), query (token), cookie (jwt). What the other carriers have is the service's own and is forwarded unless Postern signed it. Unset: all three, and none is forwarded.",
    }),
  ),
  forwardCredentials: flag(false, "Forward the caller's token to the upstream."),
  limit: optionalGroup('Rate limit of the route. Unset: no limit.', {
    requests: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Maximum number of requests per window, for one caller or address.',
    }),
    seconds: integer({ default: 60, from: 1, to: 86_400 }, 'Length of the window, in seconds.'),
    by: Type.Enum(['caller', 'address'], {
      default: 'caller',
      description:
        'What requests are counted by: caller or address. Public routes require address.',
    }),
  }),
  ...shapingSettings,
  ...headerShapingSettings,
  sticky,
})
