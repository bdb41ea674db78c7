import { Type } from 'typebox'
import { ALPHANUMERIC, ORIGIN, POSTGRES_URL } from './patterns.ts'
import { DAY_MS, flag, integer, section, TEN_YEARS_SECONDS } from './setting-forms.ts'

/** How tokens are signed and how long they are good. */
export const jwtSettings = section('The tokens that login issues.', {
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
  maxLifetimeSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: TEN_YEARS_SECONDS,
      description:
        'Reject tokens that live longer than this many seconds from issue to expiry. Unset: jwt.timeout. Set it for tokens of other issuers, or while you change jwt.timeout. Not used in mode dev.',
    }),
  ),
  maxTokenBytes: integer(4096, 256, 65_536, 'The longest token that is looked at.'),
  clockSkewSeconds: integer(
    60,
    0,
    3600,
    'How far ahead of our clock the issue time of a token may lie; its expiry gets no leeway.',
  ),
})

/** The cookie that may carry one. */
export const cookieSettings = section(
  'The cookie jwt, the last of the three places a token may ride in.',
  {
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
  },
)

/** Where accounts are. */
export const databaseSettings = section('Accounts and the login log.', {
  url: Type.Optional(
    Type.String({
      maxLength: 4096,
      pattern: POSTGRES_URL,
      writeOnly: true,
      description:
        'A postgres:// address: postgres://user:password@host:5432/name, or several hosts: postgres://a:5432,b:5432/name?target_session_attrs=read-write. Unset: the embedded database.',
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
})

/** The picture that login asks for. */
export const captchaSettings = section('The picture that login asks for.', {
  ttlSeconds: integer(600, 10, 86_400, 'How many seconds a captcha can be answered.'),
  length: integer(4, 4, 8, 'How many characters a captcha has.'),
  alphabet: Type.String({
    default: '0123456789',
    minLength: 10,
    maxLength: 62,
    pattern: ALPHANUMERIC,
    description: 'The letters and digits that captchas are made of, each one once.',
  }),
  maxOutstanding: integer(
    10_000,
    100,
    10_000_000,
    'The most unanswered captchas kept at once, by all replicas together.',
  ),
  alias: flag(false, 'Whether GET /api/v1/captcha answers as GET /api/v1/getCaptcha does.'),
})

/** Limits on guessing. */
export const loginSettings = section('How much login work is accepted.', {
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
  longestWaitSeconds: integer(900, 1, 86_400, 'The longest wait, and how long one is remembered.'),
  knownAddressDays: integer(
    30,
    0,
    365,
    'How many days an address from which an account logged in stays known for it.',
  ),
  captchaPerAddressPerMinute: integer(60, 1, 1_000_000, 'Captchas a minute for one address.'),
})

/** Tokens that end early. */
export const revocationSettings = section('Tokens that end before they expire.', {
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
  snapshot: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'The file in which this gateway keeps the list of revoked tokens, to start with while its store is unreachable. Unset: revocations.snapshot beside policy.snapshot, or in application.dataDirectory. Each gateway needs its own; workers append their number. Not used when the list is in the embedded database.',
    }),
  ),
  sweepMs: integer(
    5000,
    50,
    25_000,
    'How often open answers are ended whose token or permission is over.',
  ),
})
