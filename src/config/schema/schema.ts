import { type Static, Type } from 'typebox'
import {
  captchaSettings,
  cookieSettings,
  databaseSettings,
  jwtSettings,
  loginSettings,
  revocationSettings,
} from './accounts.ts'
import {
  corsSettings,
  headersSettings,
  identitySettings,
  route,
  upgradesSettings,
} from './forwarding.ts'
import { loggerSettings, tracingSettings } from './observing.ts'
import { HOST, PRINTABLE, REDIS_URL, UPSTREAM_NAME } from './patterns.ts'
import {
  DAY_MS,
  endpoint,
  file,
  flag,
  integer,
  section,
  TEN_YEARS_SECONDS,
  TIB,
  text,
} from './setting-forms.ts'
import { upstream } from './upstream.ts'

/** The longest `jwt.timeout` that can be configured. */
export { TEN_YEARS_SECONDS as LONGEST_TIMEOUT_SECONDS } from './setting-forms.ts'

/**
 * Every setting of Postern, with its type, default, bound and one sentence. The type, the check,
 * the defaults and `config/schema.json` all come from here. `writeOnly` marks a secret.
 */
export const configSchema = section('The configuration of Postern.', {
  application: section('The public port and the mode.', {
    mode: Type.String({
      default: 'prod',
      maxLength: 64,
      description:
        'The name dev, exactly, skips the captcha and makes tokens last about 100 years; any other name does neither.',
    }),
    host: text(
      '0.0.0.0',
      'The address or host name the public port listens on, without port or brackets.',
      HOST,
    ),
    port: integer(8000, 0, 65_535, 'The public port; 0 takes a free one.'),
    dataDirectory: text('data', 'Where the embedded database and a generated key are kept.'),
    workers: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Literal('auto')], {
      default: 1,
      description:
        'How many processes take requests: a number, or auto for one per core; more than 1 needs database.url and redis.url.',
    }),
    plainRequests: flag(
      true,
      'Reads simple requests with the plain request reader, which takes less CPU; false has the parser of Node read every request.',
    ),
    trustedProxies: Type.Array(
      Type.String({
        maxLength: 64,
        description: 'An address, or a range such as 10.0.0.0/8.',
      }),
      {
        default: [],
        maxItems: 256,
        uniqueItems: true,
        description:
          'The proxies in front of Postern, by address or range, whose X-Forwarded-For, -Proto and -Host are believed.',
      },
    ),
  }),
  tls: Type.Optional(
    Type.Object(
      {
        certFile: file('The PEM certificate of the public port with its chain; watched.'),
        keyFile: file('The PEM private key of that certificate; watched.'),
        minVersion: Type.Enum(['TLSv1.2', 'TLSv1.3'], {
          default: 'TLSv1.2',
          description: 'The oldest version of TLS that a client may speak.',
        }),
      },
      {
        additionalProperties: false,
        description: 'Makes the public port speak TLS, and nothing else; without it, plain HTTP.',
      },
    ),
  ),
  cors: corsSettings,
  ops: section('The second port: health, readiness, version.', {
    host: text(
      '127.0.0.1',
      'The address or host name the ops port listens on, without port or brackets.',
      HOST,
    ),
    port: integer(9100, 0, 65_535, 'The ops port; 0 takes a free one.'),
  }),
  forwardAuth: section('A port on which a proxy asks whether a request may pass.', {
    enabled: flag(
      false,
      'Whether nginx, Traefik or Envoy may ask about requests that they forward themselves.',
    ),
    host: text(
      '127.0.0.1',
      'The address or host name that port listens on, without port or brackets.',
      HOST,
    ),
    port: integer(9101, 0, 65_535, 'The port for their questions; 0 takes a free one.'),
  }),
  logger: loggerSettings,
  tracing: tracingSettings,
  jwt: jwtSettings,
  cookie: cookieSettings,
  database: databaseSettings,
  captcha: captchaSettings,
  login: loginSettings,
  refusals: section('What a refused caller is told.', {
    notPermittedCode: Type.Enum([401, 403], {
      default: 401,
      description:
        'The code in the body when the role lacks permission; the HTTP status stays 200.',
    }),
  }),
  redis: section('Where policies are published, and what replicas share.', {
    url: Type.Optional(
      Type.String({
        maxLength: 4096,
        pattern: REDIS_URL,
        writeOnly: true,
        description:
          'redis://host:6379/0, redis+sentinel://h1,h2/master or redis+cluster://h1,h2; rediss is the same with TLS.',
      }),
    ),
    prefix: Type.String({
      default: '{postern}:',
      minLength: 1,
      maxLength: 128,
      pattern: PRINTABLE,
      description: 'What every key begins with; its braces keep the keys together on a cluster.',
    }),
    commandTimeoutMs: integer(
      300,
      10,
      60_000,
      'How long one command may take; a whole policy may take ten times as long.',
    ),
    connectTimeoutMs: integer(1500, 10, DAY_MS, 'How long connecting to Redis may take.'),
  }),
  policy: section('What each role may do.', {
    source: Type.Enum(['files', 'redis'], {
      default: 'files',
      description: 'Where the policy comes from: a directory, or what was published to Redis.',
    }),
    directory: text('policies', 'The directory with model.conf, the rules and exclusions.yaml.'),
    pollSeconds: integer(
      3,
      1,
      5,
      'How long a change may go unnoticed when no message tells of it.',
    ),
    snapshot: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'A file for the last good policy, to start with while Redis is away.',
      }),
    ),
    maxAge: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: TEN_YEARS_SECONDS,
        description:
          'After how many seconds without confirmation by its source a policy is no longer used; without it, never.',
      }),
    ),
  }),
  revocation: revocationSettings,
  headers: headersSettings,
  identity: identitySettings,
  limits: section('The most that one client can ask of the public port.', {
    targetBytes: integer(8192, 64, 1_048_576, 'The longest request target: path and query.'),
    headerBytes: integer(16_384, 1024, 1_048_576, 'The most bytes of target and headers together.'),
    headerCount: integer(100, 10, 2000, 'The most headers of one request.'),
    bodyBytes: integer(104_857_600, 0, TIB, 'The longest request body.'),
    headersTimeoutMs: integer(15_000, 1, DAY_MS, 'How long the headers of a request may take.'),
    requestTimeoutMs: integer(300_000, 1, DAY_MS, 'How long a whole request may take to arrive.'),
    minBytesPerSecond: integer(
      500,
      0,
      1_000_000_000,
      'How fast a client must send a request body, in bytes per second, in every window of minRateWindowMs. 0: as slowly as it likes.',
    ),
    minRateWindowMs: integer(
      20_000,
      100,
      DAY_MS,
      'Over how many milliseconds minBytesPerSecond is measured: a client may pause for this long.',
    ),
    stallTimeoutMs: integer(60_000, 1, DAY_MS, 'How long a client may leave an answer unread.'),
    busyStallTimeoutMs: integer(
      4000,
      1,
      DAY_MS,
      'How long a client may leave a response unread while other requests wait for its connection to the upstream.',
    ),
    keepAliveTimeoutMs: integer(65_000, 1, DAY_MS, 'How long an idle connection is kept.'),
    connections: integer(
      10_000,
      1,
      1_000_000,
      'The most client connections at the same time; beyond that the longest idle one is closed for a new one.',
    ),
    connectionsPerAddress: integer(
      1000,
      1,
      1_000_000,
      'The same for one client address (IPv6: one /64 network); application.trustedProxies are exempt.',
    ),
  }),
  overload: section(
    'When new requests are refused with 503, so that those under way do not suffer.',
    {
      loopDelayMs: integer(
        500,
        10,
        DAY_MS,
        'How late the event loop may come to its work for more than a second.',
      ),
      inFlight: integer(5000, 1, 1_000_000, 'The most requests and tunnels under way at a time.'),
    },
  ),
  upgrades: upgradesSettings,
  upstreams: Type.Record(Type.String({ pattern: UPSTREAM_NAME }), upstream, {
    additionalProperties: false,
    default: {},
    description: 'The services behind Postern, by name: small letters, digits and hyphens.',
  }),
  routes: Type.Array(route, {
    default: [],
    maxItems: 10_000,
    description: 'Which path goes to which upstream; the longest path that fits wins.',
  }),
  endpoints: section('The two endpoints that Postern can leave to an upstream.', {
    logout: endpoint('POST /api/v1/logout'),
    profile: endpoint('GET /api/v1/user/profile'),
  }),
  shutdown: section('How Postern ends.', {
    graceMs: integer(500, 0, DAY_MS, 'How long new requests are still taken once told to end.'),
    idleMs: integer(
      2000,
      0,
      DAY_MS,
      'How long connections that are idle after that may still be used for one more request.',
    ),
    deadlineMs: integer(
      30_000,
      1,
      DAY_MS,
      'By when it has ended; requests under way may take as long, but for what the stores need.',
    ),
    failureDeadlineMs: integer(
      10_000,
      1,
      DAY_MS,
      'The deadline when it ends because of an error that nobody caught, if that is sooner.',
    ),
  }),
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** A valid configuration with every default filled in, deeply frozen. */
export type Config = DeepReadonly<Static<typeof configSchema>>

type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly (DeepPartial<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T

/** A configuration without the values that do not fit the schema. */
export type Draft = DeepPartial<Config>
