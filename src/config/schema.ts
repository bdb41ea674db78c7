import { type Static, Type } from 'typebox'

const DAY_MS = 86_400_000
const TEN_YEARS_SECONDS = 315_360_000

/** The longest `jwt.timeout` that can be configured. */
export const LONGEST_TIMEOUT_SECONDS = TEN_YEARS_SECONDS

const TIB = 1_099_511_627_776

const section = <P extends Type.TProperties>(description: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description })

const integer = (value: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: value, minimum, maximum, description })

const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })

const text = (value: string, description: string, pattern?: string) =>
  Type.String({ default: value, minLength: 1, maxLength: 1024, description, ...form(pattern) })

const form = (pattern: string | undefined) => (pattern === undefined ? {} : { pattern })

const HOST = '^[0-9A-Za-z.:%_-]+$'
const REDIS_HOST = '(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?'
const REDIS_URL = [
  `^rediss?://([^@/]*@)?${REDIS_HOST}(/[0-9]{0,5})?$`,
  `^rediss?\\+sentinel://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/[^/?#]+(/[0-9]{0,5})?(\\?[^#]*)?$`,
  `^rediss?\\+cluster://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/?$`,
].join('|')
const ORIGIN = '^https?://(\\[[0-9a-f:.]+\\]|[0-9a-z._-]+)(:[0-9]{1,5})?$'
const HOST_HEADER = '^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?$'
const UPSTREAM_NAME = '^[a-z][a-z0-9-]{0,62}$'
// RFC 9110 5.6.2.
const HEADER_NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$"

const headerName = (value: string, carries: string) =>
  text(
    value,
    `The name of the header that tells an upstream ${carries}, such as ${value}.`,
    HEADER_NAME,
  )

const file = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description })

const endpoint = (name: string) =>
  text(
    'gateway',
    `Who answers ${name}: the word gateway, or the name of an upstream.`,
    UPSTREAM_NAME,
  )

const upstream = Type.Object(
  {
    targets: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'One server of the upstream: scheme, host and port, such as http://orders:8080.',
      }),
      {
        minItems: 1,
        maxItems: 256,
        uniqueItems: true,
        description: 'The servers of this upstream, each one scheme, host and port.',
      },
    ),
    host: text(
      'target',
      'The Host header that goes out: target (its own), client (what the client asked for), or a fixed name.',
      HOST_HEADER,
    ),
    tls: Type.Optional(
      Type.Object(
        {
          caFile: Type.Optional(
            file('PEM certificates that may vouch for a target, instead of those of the system.'),
          ),
          certFile: Type.Optional(
            file('Our own PEM certificate with its chain, for a target that asks for one.'),
          ),
          keyFile: Type.Optional(file('The PEM private key of that certificate.')),
          serverName: Type.Optional(
            Type.String({
              maxLength: 253,
              pattern: '^[0-9A-Za-z_-]+([.][0-9A-Za-z_-]+)*$',
              description: "The name that a certificate must have, where it is not the target's.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'How https targets are verified, which they always are.',
        },
      ),
    ),
    connections: integer(256, 1, 65_536, 'The most connections Postern opens to one target.'),
    connectTimeoutMs: integer(3000, 1, DAY_MS, 'How long connecting to a target may take.'),
    headersTimeoutMs: integer(30_000, 1, DAY_MS, 'How long a target may take to begin its answer.'),
    bodyTimeoutMs: integer(60_000, 1, DAY_MS, 'How long a target may pause within its answer.'),
    queueTimeoutMs: integer(5000, 1, DAY_MS, 'How long a request may wait for a free connection.'),
    balance: Type.Enum(['round-robin', 'least-outstanding'], {
      default: 'round-robin',
      description: 'Which target a request goes to: the next, or the one with the least to do.',
    }),
    retries: integer(
      1,
      0,
      10,
      'How often a request without a body, and with a method that may be repeated, is tried on another target.',
    ),
    dnsSeconds: integer(
      10,
      0,
      86_400,
      'How often the addresses behind the name of a target are looked up; each one is a target. 0: never.',
    ),
    breaker: section('When a target that fails is left alone.', {
      failures: integer(5, 1, 10_000, 'After how many failures in a row.'),
      openMs: integer(1000, 10, DAY_MS, 'For how long, before one request tries again.'),
      maxOpenMs: integer(
        30_000,
        10,
        DAY_MS,
        'For how long at most; each try that fails doubles it.',
      ),
    }),
    healthCheck: Type.Optional(
      Type.Object(
        {
          path: Type.String({
            minLength: 1,
            maxLength: 1024,
            pattern: '^/[!-~]*$',
            description: 'What is asked for with GET; any status below 400 is a good answer.',
          }),
          intervalMs: integer(5000, 100, DAY_MS, 'How long between two checks.'),
          timeoutMs: integer(2000, 10, DAY_MS, 'How long an answer may take.'),
          healthyAfter: integer(2, 1, 100, 'After how many good answers a target is used again.'),
          unhealthyAfter: integer(3, 1, 100, 'After how many bad ones it is left out.'),
        },
        {
          additionalProperties: false,
          description: 'Asks every target whether it is well; without it nobody asks.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'A service that calls are forwarded to.' },
)

const route = Type.Object(
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
        pattern: '\\S',
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
    host: text('0.0.0.0', 'The address or host name the public port listens on.', HOST),
    port: integer(8000, 0, 65_535, 'The public port; 0 takes a free one.'),
    dataDirectory: text('data', 'Where the embedded database and a generated key are kept.'),
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
  cors: section('Pages of other origins that may call, in a browser.', {
    origins: Type.Array(
      Type.String({
        maxLength: 256,
        pattern: `${ORIGIN}|^[*]$`,
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
  }),
  ops: section('The second port: health, readiness, version.', {
    host: text('127.0.0.1', 'The address or host name the ops port listens on.', HOST),
    port: integer(9100, 0, 65_535, 'The ops port; 0 takes a free one.'),
  }),
  forwardAuth: section('A port on which a proxy asks whether a request may pass.', {
    enabled: flag(
      false,
      'Whether nginx, Traefik or Envoy may ask about requests that they forward themselves.',
    ),
    host: text('127.0.0.1', 'The address or host name that port listens on.', HOST),
    port: integer(9101, 0, 65_535, 'The port for their questions; 0 takes a free one.'),
  }),
  logger: section('What is written down.', {
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      description: 'The least grave log line that is still written.',
    }),
    enableddb: flag(false, 'Whether every login attempt is written to the login log.'),
    required: flag(
      false,
      'Whether login is refused while the login log has no room for its record.',
    ),
  }),
  jwt: section('The tokens that login issues.', {
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        writeOnly: true,
        description:
          'A text that signs tokens, and verifies those without a kid: at least 32 bytes of randomness.',
      }),
    ),
    keyDirectory: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description:
          'A watched directory of keys, <kid>.pem or <kid>.jwk; its file signer names the one that signs.',
      }),
    ),
    timeout: integer(3600, 1, TEN_YEARS_SECONDS, 'How many seconds a token is valid.'),
    maxTokenBytes: integer(4096, 256, 65_536, 'The longest token that is looked at.'),
    clockSkewSeconds: integer(
      60,
      0,
      3600,
      'How far ahead of our clock the issue time of a token may lie; its expiry gets no leeway.',
    ),
  }),
  cookie: section('The cookie jwt, the last of the three places a token may ride in.', {
    set: flag(false, 'Whether login also sets the cookie, and logout clears it.'),
    sameSite: Type.Enum(['strict', 'lax', 'none'], {
      default: 'lax',
      description:
        'When browsers send the cookie along with what other sites ask for: never, on links, always.',
    }),
    trustedOrigins: Type.Array(
      Type.String({
        maxLength: 256,
        pattern: ORIGIN,
        description: 'One origin, as browsers write it: https://app.example.com, no path.',
      }),
      {
        default: [],
        maxItems: 100,
        uniqueItems: true,
        description:
          'Other origins whose pages may change things with the cookie; the own one always may.',
      },
    ),
  }),
  database: section('Accounts and the login log.', {
    url: Type.Optional(
      Type.String({
        maxLength: 4096,
        pattern: '^postgres(ql)?://',
        writeOnly: true,
        description: 'A postgres:// address; without one the embedded database is used.',
      }),
    ),
    poolSize: integer(10, 1, 1000, 'The most connections to the database.'),
    connectTimeoutMs: integer(1500, 1, DAY_MS, 'How long connecting to the database may take.'),
    statementTimeoutMs: integer(1500, 1, DAY_MS, 'How long one statement may take.'),
    migrate: Type.Enum(['auto', 'never'], {
      default: 'auto',
      description:
        'Whether absent tables are made at the start, or only by the command postern db migrate.',
    }),
  }),
  captcha: section('The picture that login asks for.', {
    ttlSeconds: integer(600, 10, 86_400, 'How many seconds a captcha can be answered.'),
    length: integer(4, 4, 8, 'How many characters a captcha has.'),
    alphabet: Type.String({
      default: '0123456789',
      minLength: 10,
      maxLength: 62,
      pattern: '^[0-9A-Za-z]+$',
      description: 'The letters and digits that captchas are made of, each one once.',
    }),
    maxOutstanding: integer(
      10_000,
      100,
      10_000_000,
      'The most unanswered captchas kept at once, by all replicas together.',
    ),
    alias: flag(false, 'Whether GET /api/v1/captcha answers as GET /api/v1/getCaptcha does.'),
  }),
  login: section('How much login work is accepted.', {
    passwordConcurrency: integer(2, 1, 64, 'How many passwords are checked at the same time.'),
    passwordQueue: integer(64, 0, 100_000, 'How many more logins may wait for that.'),
    perAddressPerMinute: integer(30, 1, 1_000_000, 'Login attempts a minute from one address.'),
    failuresPerAccount: integer(
      5,
      1,
      1_000_000,
      'Failed logins on one account from addresses it is not known at, before those have to wait.',
    ),
    failuresPerPair: integer(
      5,
      1,
      1_000_000,
      'Failed logins on one account from one address, before that address has to wait.',
    ),
    failureWindowSeconds: integer(900, 1, 86_400, 'For how many seconds a failed login counts.'),
    waitSeconds: integer(60, 1, 86_400, 'The first wait; each further one is twice as long.'),
    longestWaitSeconds: integer(
      900,
      1,
      86_400,
      'The longest wait, and how long one is remembered.',
    ),
    knownAddressDays: integer(
      30,
      0,
      365,
      'How many days an address from which an account logged in stays known for it.',
    ),
    captchaPerAddressPerMinute: integer(60, 1, 1_000_000, 'Captchas a minute for one address.'),
  }),
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
      pattern: '^[!-~]+$',
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
  revocation: section('Tokens that end before they expire.', {
    maxAgeMs: integer(
      60_000,
      1000,
      DAY_MS,
      'For how long the list of ended tokens may go unconfirmed by the store it comes from.',
    ),
    whenStale: Type.Enum(['serve', 'refuse'], {
      default: 'serve',
      description:
        'What happens then: serve goes on with the list as it is, refuse answers 503 to every token issued before.',
    }),
    sweepMs: integer(
      5000,
      50,
      25_000,
      'How often open answers are ended whose token has ended or expired.',
    ),
  }),
  headers: section('The names under which an upstream learns who calls.', {
    userId: headerName('X-User-Id', 'the user ID'),
    roleKey: headerName('X-Role-Key', 'the role key'),
    dataScope: headerName('X-Data-Scope', 'the data scope'),
    userName: headerName('X-User-Name', 'the user name'),
    roleId: headerName('X-Role-Id', 'the role ID'),
    requestId: headerName('X-Request-Id', 'the request ID'),
  }),
  identity: section('What an upstream can check for itself about who calls.', {
    assertion: section('A short-lived JWT of the caller, verifiable by the public keys.', {
      enabled: flag(false, 'Whether upstreams get one with every call that has a caller.'),
      header: headerName('X-Postern-Assertion', 'who calls, signed'),
      issuer: text('postern', 'What the claim iss says.', '^[!-~]+$'),
      audience: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          pattern: '^[!-~]+$',
          description:
            'What the claim aud says; without it the name of the upstream that the call goes to.',
        }),
      ),
      lifetimeSeconds: integer(60, 10, 3600, 'How many seconds one is valid.'),
    }),
  }),
  limits: section('The most that one client can ask of the public port.', {
    targetBytes: integer(8192, 64, 1_048_576, 'The longest request target: path and query.'),
    headerBytes: integer(16_384, 1024, 1_048_576, 'The most bytes of target and headers together.'),
    headerCount: integer(100, 10, 2000, 'The most headers of one request.'),
    bodyBytes: integer(104_857_600, 0, TIB, 'The longest request body.'),
    headersTimeoutMs: integer(15_000, 1, DAY_MS, 'How long the headers of a request may take.'),
    requestTimeoutMs: integer(300_000, 1, DAY_MS, 'How long a whole request may take to arrive.'),
    stallTimeoutMs: integer(30_000, 1, DAY_MS, 'How long a client may leave an answer unread.'),
    keepAliveTimeoutMs: integer(65_000, 1, DAY_MS, 'How long an idle connection is kept.'),
    connections: integer(10_000, 1, 1_000_000, 'The most connections at the same time.'),
  }),
  upgrades: section('Connections that go on in another protocol, such as WebSocket.', {
    protocols: Type.Array(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9./-]{0,31}$',
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
  }),
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
    deadlineMs: integer(30_000, 1, DAY_MS, 'How long requests under way may take to finish.'),
  }),
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

/** A checked configuration with every default filled in, frozen all the way down. */
export type Config = DeepReadonly<Static<typeof configSchema>>
