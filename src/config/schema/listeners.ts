import { PROTOCOL } from './patterns.ts'
import {
  certificateFiles,
  choice,
  DAY_MS,
  directory,
  flag,
  hostNames,
  integer,
  list,
  listening,
  milliseconds,
  optionalGroup,
  reloadingInteger,
  section,
  string,
  TIB,
} from './setting-builders.ts'
import { Type } from './type.ts'

export const applicationSettings = section('Mode, public listener and worker processes.', {
  mode: string(
    { default: 'prod', maxLength: 64 },
    'Mode of the gateway. Only the exact text dev has an effect: no captcha, and tokens that last about 100 years. Any other text means prod.',
  ),
  ...listening('public listener', '0.0.0.0', 8000),
  dataDirectory: directory(
    'data',
    'Directory for the embedded database and a generated signing key.',
  ),
  workers: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Literal('auto')], {
    default: 1,
    description:
      'Number of worker processes, or auto for one per CPU core. More than 1 requires database.url and redis.url.',
  }),
  plainRequests: flag(
    true,
    'Read simple requests with the plain request reader, which uses less CPU. false: the parser of Node reads every request.',
  ),
  http2: flag(true, 'Offer HTTP/2 beside HTTP/1.1 to clients of the public listener that use TLS.'),
  h2c: flag(
    false,
    'Accept HTTP/2 without TLS on the public listener from clients that begin with it (prior knowledge), such as gRPC clients in the cluster.',
  ),
  hosts: hostNames(
    'login.example.com',
    'Hosts that are served besides those of the routes; requests for other hosts get 404. Unset: the hosts of the routes, or every host if a route has none.',
  ),
  trustedProxies: list(
    string({ maxLength: 64 }, 'IP address, or CIDR range such as 10.0.0.0/8.'),
    { default: [], maxItems: 256, reloads: true },
    'Proxies in front of Postern whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host headers are trusted.',
  ),
})

export const tlsSettings = optionalGroup('TLS on the public listener. Unset: plain HTTP.', {
  ...certificateFiles,
  minVersion: choice(['TLSv1.2', 'TLSv1.3'], 'Minimum TLS version of clients.'),
})

export const opsSettings = section(
  'Ops listener: health, readiness, metrics and version.',
  listening('ops listener', '127.0.0.1', 9100),
)

export const forwardAuthSettings = section('Listener for forward-auth requests of other proxies.', {
  enabled: flag(
    false,
    'Answer forward-auth requests of nginx, Traefik, Caddy or Envoy (over HTTP or gRPC), which forward the traffic themselves. Requires application.trustedProxies.',
  ),
  ...listening('forward-auth listener', '127.0.0.1', 9101),
})

/** Limits of requests reload. The others belong to connections and to the parser, which outlive requests. */
export const limitsSettings = section('Limits of the public listener.', {
  targetBytes: reloadingInteger(
    { default: 8192, from: 64, to: 1_048_576 },
    'Maximum length of the request target (path and query), in bytes.',
  ),
  headerBytes: integer(
    { default: 16_384, from: 1024, to: 1_048_576 },
    'Maximum size of request target and headers together, in bytes.',
  ),
  streamsPerConnection: integer(
    { default: 100, from: 1, to: 10_000 },
    'Maximum number of concurrent requests on one HTTP/2 connection.',
  ),
  headerCount: integer(
    { default: 100, from: 10, to: 2000 },
    'Maximum number of headers in a request.',
  ),
  bodyBytes: reloadingInteger(
    { default: 104_857_600, from: 0, to: TIB },
    'Maximum size of a request body, in bytes.',
  ),
  headersTimeoutMs: milliseconds(15_000, 1, 'Timeout for receiving the headers of a request'),
  requestTimeoutMs: milliseconds(300_000, 1, 'Timeout for receiving a whole request'),
  minBytesPerSecond: reloadingInteger(
    { default: 500, from: 0, to: 1_000_000_000 },
    'Minimum rate at which clients must send request bodies, in bytes per second, in every window of minRateWindowMs. 0: no minimum.',
  ),
  minRateWindowMs: reloadingInteger(
    { default: 20_000, from: 100, to: DAY_MS },
    'Window in which minBytesPerSecond is measured, in milliseconds. A client may pause for this long.',
  ),
  stallTimeoutMs: reloadingInteger(
    { default: 60_000, from: 1, to: DAY_MS },
    'Timeout for a client that does not read its response, in milliseconds.',
  ),
  busyStallTimeoutMs: reloadingInteger(
    { default: 4000, from: 1, to: DAY_MS },
    'Timeout for a client that does not read its response while other requests wait for connections to the upstream, in milliseconds.',
  ),
  keepAliveTimeoutMs: milliseconds(65_000, 1, 'Idle timeout of client connections'),
  connections: integer(
    { default: 10_000, from: 1, to: 1_000_000 },
    'Maximum number of client connections. Beyond that, a new connection closes the one that has been idle longest.',
  ),
  connectionsPerAddress: integer(
    { default: 1000, from: 1, to: 1_000_000 },
    'Maximum number of connections from one client address (IPv6: one /64 network). application.trustedProxies are exempt.',
  ),
})

export const upgradesSettings = section('Upgraded connections, such as WebSocket.', {
  protocols: list(
    string({ pattern: PROTOCOL }, 'Protocol as in the Upgrade header, in lower case.'),
    { default: ['websocket'], maxItems: 16 },
    'Protocols that clients may upgrade to, after the same checks as for any request.',
  ),
  idleTimeoutMs: milliseconds(300_000, 1, 'Idle timeout of upgraded connections'),
})

export const overloadSettings = section(
  'Load shedding: when new requests get 503 so that requests in progress can finish.',
  {
    loopDelayMs: integer(
      { default: 500, from: 10, to: DAY_MS },
      'Event-loop delay, sustained for one second, above which requests are shed, in milliseconds.',
    ),
    inFlight: integer(
      { default: 5000, from: 1, to: 1_000_000 },
      'Maximum number of requests and tunnels in progress, above which requests are shed.',
    ),
  },
)

export const shutdownSettings = section('Graceful shutdown.', {
  graceMs: milliseconds(500, 0, 'Time after the signal in which new requests are still accepted'),
  idleMs: integer(
    { default: 2000, from: 0, to: DAY_MS },
    'Time after graceMs in which idle connections may carry one more request, in milliseconds.',
  ),
  deadlineMs: integer(
    { default: 30_000, from: 1, to: DAY_MS },
    'Deadline of the whole shutdown, in milliseconds. Requests still in progress shortly before it are aborted.',
  ),
  failureDeadlineMs: integer(
    { default: 10_000, from: 1, to: DAY_MS },
    'Deadline of a shutdown after an uncaught exception, in milliseconds, if it is earlier than deadlineMs.',
  ),
})
