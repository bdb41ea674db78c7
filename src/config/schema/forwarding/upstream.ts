import { HOST_HEADER, REQUEST_TARGET, SERVER_NAME } from '../patterns.ts'
import {
  choice,
  DAY_MS,
  flag,
  group,
  integer,
  list,
  milliseconds,
  optionalFile,
  optionalGroup,
  optionalInteger,
  optionalString,
  section,
  string,
  text,
} from '../setting-builders.ts'
import { Type } from '../type.ts'

/** Ejection of targets that accept connections, but serve badly. */
const outlier = section(
  'Outlier detection: targets that accept connections, but serve badly, get no requests for a while.',
  {
    consecutive5xx: integer(
      { default: 0, from: 0, to: 10_000 },
      'Consecutive responses with a status of 500 or above after which a target is ejected, if they are of two callers or there is only one. 0: statuses do not count.',
    ),
    consecutiveBroken: integer(
      { default: 5, from: 0, to: 10_000 },
      'Consecutive requests without a complete response after which a target is ejected, if they are of two callers or there is only one. 0: they do not count.',
    ),
    errorShare: section(
      'Ejection of a target that fails a steady part of its requests, and at least twice as often as the others. Every caller counts as much as any other.',
      {
        percent: integer(
          { default: 0, from: 0, to: 100 },
          'Share of failed requests in one interval from which a target is ejected, in percent: status of 500 or above, broken response, or no response. 0: it does not count.',
        ),
        requests: integer(
          { default: 50, from: 1, to: 1_000_000 },
          'Minimum number of requests to a target in the interval. With fewer, their share of failures does not count.',
        ),
        intervalMs: milliseconds(10_000, 100, 'Interval in which requests are counted'),
      },
    ),
    baseEjectionMs: integer(
      { default: 30_000, from: 10, to: DAY_MS },
      'Duration of the first ejection, in milliseconds. Each further one lasts that much longer.',
    ),
    maxEjectionMs: milliseconds(300_000, 10, 'Maximum duration of an ejection'),
    maxEjectedPercent: integer(
      { default: 50, from: 0, to: 100 },
      'Maximum share of the targets that are ejected at a time, in percent. The last target is never ejected.',
    ),
    rampMs: integer(
      { default: 10_000, from: 0, to: DAY_MS },
      'Time in which a target that returns gets back its full share of requests, in milliseconds.',
    ),
  },
)

const url = { minLength: 1, maxLength: 1024 }

/** The servers of an upstream. */
const targets = list(
  Type.Union(
    [
      Type.String(url),
      group('Server with a weight.', {
        url: Type.String({
          ...url,
          description: 'Scheme, host and port of the server, such as http://orders:8080.',
        }),
        weight: integer(
          { default: 1, from: 0, to: 1000 },
          'Part of the requests that the server gets, in relation to the weights of the others. 0: no new requests.',
        ),
      }),
    ],
    {
      description:
        'Server of the upstream: scheme, host and port, such as http://orders:8080, or url and weight.',
    },
  ),
  { minItems: 1, maxItems: 256 },
  'Servers of the upstream, each as scheme, host and port, such as http://orders:8080, or as url and weight.',
)

const unused = 'Without effect, and accepted for configurations of 0.1'

/** Unreachable targets. YAML 1.1, which Helm reads, takes `off` for `false`. */
const breaker = Type.Union(
  [
    Type.Object(
      {
        failures: integer(
          { default: 5, from: 1, to: 10_000 },
          'Consecutive failed attempts to connect to a target after which it counts as unreachable.',
        ),
        openMs: integer(
          { default: 1000, from: 10, to: DAY_MS },
          `${unused}: an unreachable target is tried every half second.`,
        ),
        maxOpenMs: integer({ default: 30_000, from: 10, to: DAY_MS }, `${unused}, as openMs.`),
      },
      { additionalProperties: false },
    ),
    Type.Literal('off'),
    Type.Literal(false),
  ],
  {
    default: {},
    description:
      'Circuit breaker: an unreachable target gets no requests until it accepts connections again. off (or false): every request tries.',
  },
)

export const upstream = group('Service that requests are forwarded to.', {
  targets,
  host: text(
    'target',
    'Host header of forwarded requests: target (host of the target), client (as the client sent it), or a fixed name.',
    HOST_HEADER,
  ),
  tls: optionalGroup(
    'TLS to https targets, whose certificates are always verified. Unset: the authorities that Node ships, and no client certificate.',
    {
      caFile: optionalFile(
        'Path of the PEM certificates of trusted authorities. Unset: those that Node ships.',
      ),
      certFile: optionalFile(
        'Path of the PEM client certificate chain. Unset: no client certificate.',
      ),
      keyFile: optionalFile(
        'Path of the PEM private key of the client certificate. Unset: no client certificate.',
      ),
      serverName: optionalString(
        { maxLength: 253, pattern: SERVER_NAME },
        'Name sent as SNI, which the certificate must have. Unset: the host of the target.',
      ),
    },
  ),
  protocol: choice(
    ['http1', 'h2', 'h2c', 'auto'],
    'Protocol to targets. http1: HTTP/1.1. h2: HTTP/2 over TLS (https targets). h2c: HTTP/2 without TLS, by prior knowledge (http targets), as gRPC services in a cluster speak it. auto: https targets choose between HTTP/2 and HTTP/1.1; http targets get HTTP/1.1.',
  ),
  http2: section('HTTP/2 connections to targets.', {
    streams: integer(
      { default: 100, from: 1, to: 1000 },
      'Maximum number of requests at a time on one connection; the target may allow fewer. Further requests get another connection.',
    ),
    pingMs: integer(
      { default: 300_000, from: 0, to: DAY_MS },
      'Time without data on a connection with requests after which a PING is sent, in milliseconds. While a request waits for its response, the first PING is sent after 5 seconds. A connection without an answer within 10 seconds is closed. gRPC servers allow one PING in 5 minutes, and one after each response, unless configured otherwise. 0: PING only after a timeout of a request.',
    ),
    maxAgeMs: integer(
      { default: 1_800_000, from: 0, to: DAY_MS },
      'Time after which a connection gets no new requests and is replaced, in milliseconds, so that new instances behind a load balancer get requests. 0: no limit.',
    ),
  }),
  connections: integer(
    { default: 512, from: 1, to: 65_536 },
    'Maximum number of connections to one target; with HTTP/2, of requests in progress.',
  ),
  keepAlive: flag(
    true,
    'Reuse connections to targets. false: every request has a connection of its own and sends Connection: close. HTTP/1.1 only.',
  ),
  maxShare: integer(
    { default: 50, from: 1, to: 100 },
    'Maximum share of these connections that one caller, or one address without a token, may use at a time, in percent. Further requests wait for up to queueTimeoutMs. 100: no limit.',
  ),
  requestBufferBytes: integer(
    { default: 65_536, from: 0, to: 1_048_576 },
    'Amount of a request body to buffer before taking a connection, in bytes. Shorter bodies are buffered whole. 0: no buffering; each chunk is forwarded as it arrives.',
  ),
  tunnels: integer(
    { default: 4096, from: 1, to: 65_536 },
    'Maximum number of WebSockets and other upgraded connections to one target.',
  ),
  connectTimeoutMs: milliseconds(3000, 1, 'Timeout for connecting to a target'),
  headersTimeoutMs: milliseconds(30_000, 1, 'Timeout for the response headers of a target'),
  bodyTimeoutMs: integer(
    { default: 60_000, from: 1, to: DAY_MS },
    'Timeout between two reads of a response body or two writes of a request body, in milliseconds.',
  ),
  queueTimeoutMs: milliseconds(5000, 1, 'Timeout for a request that waits for a free connection'),
  balance: choice(
    ['round-robin', 'least-outstanding'],
    'Load balancing. least-outstanding: the target with the fewest requests in progress.',
  ),
  retries: integer(
    { default: 1, from: 0, to: 10 },
    'Retries of a GET, HEAD, OPTIONS, PUT or DELETE without a body after its connection broke. Requests that no target can have received are retried in any case.',
  ),
  dnsSeconds: integer(
    { default: 10, from: 0, to: 86_400 },
    'Interval at which the host names of targets are resolved, in seconds. Each address is a target of its own. 0: a host name is one target.',
  ),
  breaker,
  outlier,
  slowStartMs: integer(
    { default: 0, from: 0, to: DAY_MS },
    'Time in which a target that is new, or came back, gets its full share of requests, in milliseconds. 0: at once.',
  ),
  idleTimeoutMs: optionalInteger(
    { from: 1, to: DAY_MS },
    'Timeout of idle connections to targets, in milliseconds; never longer than the target keeps them. Unset: 4000, or what the target announces with Keep-Alive; with HTTP/2 60000.',
  ),
  healthCheck: optionalGroup('Active health check of every target. Unset: none.', {
    path: string(
      { minLength: 1, maxLength: 1024, pattern: REQUEST_TARGET },
      'Path that the check requests with GET. Any status below 400 is a success.',
    ),
    intervalMs: milliseconds(5000, 100, 'Interval between checks'),
    timeoutMs: milliseconds(2000, 10, 'Timeout of a check'),
    healthyAfter: integer(
      { default: 2, from: 1, to: 100 },
      'Consecutive successes after which a target is used again.',
    ),
    unhealthyAfter: integer(
      { default: 3, from: 1, to: 100 },
      'Consecutive failures after which a target is no longer used.',
    ),
  }),
})
