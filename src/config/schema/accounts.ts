import { ALPHANUMERIC, DATABASE_URL, ORIGIN, SERVER_NAME } from './patterns.ts'
import {
  choice,
  DAY_MS,
  DAY_SECONDS,
  flag,
  integer,
  list,
  milliseconds,
  optionalFile,
  optionalInteger,
  optionalString,
  section,
  string,
  TEN_YEARS_SECONDS,
} from './setting-builders.ts'
import { Type } from './type.ts'

export const jwtSettings = section('Tokens: signing, verification and lifetime.', {
  secret: optionalString(
    { minLength: 1, maxLength: 4096, writeOnly: true },
    'Secret that signs tokens, and verifies tokens without a kid: at least 32 random bytes. Unset: only jwt.keyDirectory is used; mode dev generates a secret if neither is set.',
  ),
  keyDirectory: optionalFile(
    'Directory of keys, <kid>.pem or <kid>.jwk, reloaded when a file changes. Its file signer names the key that signs. Unset: only jwt.secret is used.',
  ),
  timeout: integer(
    { default: 3600, from: 1, to: TEN_YEARS_SECONDS },
    'Lifetime of issued tokens, in seconds. Not used in mode dev.',
  ),
  maxLifetimeSeconds: optionalInteger(
    { from: 1, to: TEN_YEARS_SECONDS },
    'Reject tokens whose lifetime, from issue to expiry, is longer than this many seconds. Set it for tokens of other issuers, or while you change jwt.timeout. Not used in mode dev. Unset: jwt.timeout.',
  ),
  maxTokenBytes: integer(
    { default: 4096, from: 256, to: 65_536 },
    'Maximum length of a token, in bytes. Longer tokens are rejected without being parsed.',
  ),
  clockSkewSeconds: integer(
    { default: 60, from: 0, to: 3600 },
    'Clock skew accepted in the issue time of a token, in seconds. Does not extend its expiry.',
  ),
})

export const tokensSettings = section('Tokens that are not issued at login.', {
  service: section('Tokens of service accounts, for programs.', {
    enabled: flag(
      false,
      'Accept service tokens, and let "postern token issue" create them. No endpoint creates them.',
    ),
    maxLifetime: integer(
      { default: 365 * DAY_SECONDS, from: 60, to: TEN_YEARS_SECONDS },
      'Maximum lifetime of a service token, from issue to expiry, in seconds. Longer ones are neither issued nor accepted, in any mode.',
    ),
  }),
})

export const cookieSettings = section(
  'The cookie of the token, which is read after the Authorization header and the query parameter token.',
  {
    set: flag(false, 'Set the cookie at login, and clear it at logout.'),
    domain: optionalString(
      { minLength: 1, maxLength: 253, pattern: SERVER_NAME },
      'Domain such as example.com, every host of which gets the cookie: one login for all of them. Unset: only the host that serves the login.',
    ),
    prefix: Type.Optional(
      Type.Boolean({
        description:
          'Name the cookie so that browsers protect it from other hosts: __Host-jwt, or __Secure-jwt with cookie.domain. Browsers are then not believed a cookie jwt. Unset: only with cookie.domain. Without effect in mode dev, where it is jwt.',
      }),
    ),
    sameSite: Type.Enum(['strict', 'lax', 'none'], {
      default: 'lax',
      description:
        'SameSite attribute of the cookie: when browsers send it with requests from other sites. strict: never; lax: when a link is followed; none: always.',
    }),
    trustedOrigins: list(
      string(
        { maxLength: 256, pattern: ORIGIN },
        'Origin as browsers send it, such as https://app.example.com, without a path.',
      ),
      { default: [], maxItems: 100 },
      'Other origins whose pages may send state-changing requests with the cookie. The origin of the gateway always may.',
    ),
  },
)

export const databaseSettings = section('Database of accounts and the login log.', {
  url: optionalString(
    { maxLength: 4096, pattern: DATABASE_URL, writeOnly: true },
    'Database URL: postgres://user:password@host:5432/name (with several hosts postgres://a:5432,b:5432/name?target_session_attrs=read-write), or mysql:// or mariadb://user:password@host:3306/name. Unset: the embedded database.',
  ),
  poolSize: integer(
    { default: 10, from: 1, to: 1000 },
    'Maximum number of connections to the database.',
  ),
  connectTimeoutMs: milliseconds(1500, 1, 'Timeout for connecting to the database'),
  statementTimeoutMs: milliseconds(1500, 1, 'Timeout of one statement'),
  migrate: choice(
    ['auto', 'never'],
    'When missing tables are created. auto: at startup; never: only by "postern db migrate".',
  ),
})

export const captchaSettings = section('Captcha at login.', {
  ttlSeconds: integer({ default: 600, from: 10, to: 86_400 }, 'Lifetime of a captcha, in seconds.'),
  length: integer({ default: 4, from: 4, to: 8 }, 'Number of characters in a captcha.'),
  alphabet: string(
    { default: '0123456789', minLength: 10, maxLength: 62, pattern: ALPHANUMERIC },
    'Letters and digits that captchas consist of, each listed once.',
  ),
  maxOutstanding: integer(
    { default: 10_000, from: 100, to: 10_000_000 },
    'Maximum number of unanswered captchas, over all replicas.',
  ),
  alias: flag(false, 'Serve captchas at GET /api/v1/captcha as well as at GET /api/v1/getCaptcha.'),
})

export const revocationSettings = section('List of revoked tokens.', {
  maxAgeMs: integer(
    { default: 60_000, from: 1000, to: DAY_MS },
    'Time without confirmation by its store after which the list is stale, in milliseconds.',
  ),
  whenStale: choice(
    ['serve', 'refuse'],
    'What to do while the list is stale. serve: keep using it; refuse: answer 503 to every token issued before it became stale.',
  ),
  snapshot: optionalFile(
    'File that keeps the list of revoked tokens, to start with while its store is unreachable. Each gateway needs its own file; workers append their number. Not used when the list is in the embedded database. Unset: revocations.snapshot beside policy.snapshot, or in application.dataDirectory.',
  ),
  sweepMs: integer(
    { default: 5000, from: 50, to: 25_000 },
    'Interval at which open responses and tunnels are checked, in milliseconds. Those whose token or permission is no longer valid are closed.',
  ),
})
