import {
  CARRIER,
  COOKIE_NAME,
  HEADER_NAME,
  HTTP_METHOD,
  NOT_BLANK,
  ROUTE_NAME,
  UPSTREAM_NAME,
} from '../patterns.ts'
import {
  choice,
  DAY_MS,
  flag,
  group,
  hostNames,
  integer,
  optionalGroup,
  optionalInteger,
  optionalList,
  optionalString,
  string,
  TIB,
} from '../setting-builders.ts'
import { Type } from '../type.ts'
import { headerShapingSettings } from './route-headers.ts'

const timeoutMs = (description: string) => optionalInteger({ from: 1, to: DAY_MS }, description)

const ranges = (description: string) =>
  optionalList(
    string(
      { minLength: 1, maxLength: 64 },
      'IP address or CIDR range, such as 10.0.0.0/8 or 2001:db8::/32.',
    ),
    { minItems: 1, maxItems: 1000 },
    description,
  )

/** Settings of a route about the requests it accepts and how they are changed. */
const shapingSettings = {
  bodyBytes: optionalInteger(
    { from: 0, to: TIB },
    'Maximum size of a request body on this route, in bytes; may be more or less than limits.bodyBytes. 0: no bodies. Unset: limits.bodyBytes.',
  ),
  timeouts: optionalGroup('Timeouts of this route. Unset: the timeouts of its upstream.', {
    headersMs: timeoutMs(
      'Timeout for the response headers, in milliseconds. Unset: headersTimeoutMs of the upstream.',
    ),
    bodyMs: timeoutMs(
      'Timeout between two reads of a response body or two writes of a request body, in milliseconds. Unset: bodyTimeoutMs of the upstream.',
    ),
    totalMs: timeoutMs(
      'Timeout for the whole request, retries included, from the permission check to the last byte of the response, in milliseconds. Upgraded connections are exempt. Unset: no limit.',
    ),
  }),
  addresses: optionalGroup(
    'Client addresses that may use the route, as application.trustedProxies report them. Unset: all.',
    {
      allow: ranges('Addresses that may use the route. Unset: all that deny does not name.'),
      deny: ranges('Addresses that may not use the route, even if allow names them. Unset: none.'),
    },
  ),
}

/** What a route matches besides its path. */
const routeMatch = {
  name: optionalString(
    { pattern: ROUTE_NAME },
    'Name of the route in logs, metrics and messages; unique. Unset: what the route matches, such as its path.',
  ),
  match: Type.Optional(
    Type.Enum(['prefix', 'exact'], {
      description:
        'How path is compared. prefix: it and everything below it; exact: only this path. An exact path takes precedence. Unset: prefix.',
    }),
  ),
  hosts: hostNames(
    'api.example.com',
    'Hosts of the route. An exact host takes precedence over a wildcard, a longer wildcard over a shorter one. Unset: any host.',
  ),
  methods: optionalList(
    string({ pattern: HTTP_METHOD }, 'Method in upper case, such as GET.'),
    { minItems: 1, maxItems: 40 },
    'Methods of the route; others go to the next route that matches. GET does not include HEAD. Unset: any method.',
  ),
}

/** Whether the clients of a route stay with a target. */
const sticky = optionalGroup(
  'Send the requests of a client to the same target of the upstream while that is available. {}: by cookie. Unset: every request goes to the target that balance chooses.',
  {
    by: choice(
      ['cookie', 'user'],
      'What a client is recognized by. cookie: a cookie that the gateway sets; user: the user ID in the token, which public routes do not have.',
    ),
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
  access: choice(
    ['permitted', 'authenticated', 'public'],
    'What a request needs. permitted: a valid token and permission; authenticated: a valid token; public: neither.',
  ),
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
  unexpectedBody: choice(
    ['forward', 'reject'],
    'What to do with a body on GET, HEAD, OPTIONS or DELETE. forward: send it on a connection that is closed afterwards; reject: answer 400.',
  ),
  passHeaders: optionalList(
    string({ pattern: HEADER_NAME }, 'Name of a request header.'),
    { maxItems: 100 },
    'Client headers of the families X-Accel-*, X-Sendfile*, X-Envoy-* and X-Middleware-* to forward on this route. Unset: none of them.',
  ),
  rewriteLocation: choice(
    ['off', 'upstream'],
    "What to do with Location and Content-Location of responses. upstream: turn the upstream's own address into a path of this route, and undo replacePrefix; off: relay them unchanged.",
  ),
  carriers: optionalList(
    string({ pattern: CARRIER }, 'Carrier of a token.'),
    { maxItems: 8 },
    "Where this route looks for the caller's token: header (Authorization), query (token), cookie (jwt); for service tokens also basic (the password of HTTP Basic) and headers such as X-API-Key. What the other carriers have is the service's own and is forwarded unless Postern signed it. Unset: all three, and none is forwarded.",
  ),
  forwardCredentials: flag(false, "Forward the caller's token to the upstream."),
  limit: optionalGroup('Rate limit of the route. Unset: no limit.', {
    requests: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Maximum number of requests per window, for one caller or address.',
    }),
    seconds: integer({ default: 60, from: 1, to: 86_400 }, 'Length of the window, in seconds.'),
    burst: optionalInteger(
      { from: 1, to: 1_000_000_000 },
      'Requests that may come at once; then one more is allowed every seconds / requests (token bucket). Unset: all of them, in windows of the clock.',
    ),
    by: choice(
      ['caller', 'address', 'role', 'service'],
      'What requests are counted by: caller, address, role (all its callers together) or service (all requests to the upstream). Public routes require address or service.',
    ),
  }),
  ...shapingSettings,
  ...headerShapingSettings,
  sticky,
})
