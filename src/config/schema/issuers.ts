import { dataScopes } from '../../kernel/data-scope.ts'
import { issuerAlgorithms } from '../../token/issuers/issuer.ts'
import { CLAIM_NAME, ISSUER_NAME, PRINTABLE, USER_ID_PREFIX } from './patterns.ts'
import {
  flag,
  group,
  integer,
  list,
  optionalFile,
  optionalString,
  string,
  TEN_YEARS_SECONDS,
} from './setting-builders.ts'
import { Type } from './type.ts'

const audienceText = { minLength: 1, maxLength: 512, pattern: PRINTABLE }
const claim = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: CLAIM_NAME, description })

const claimSettings = group(
  'Claims of the tokens: the name of a claim, or a JSON pointer such as /realm_access/roles.',
  {
    userId: string(
      { default: 'sub', minLength: 1, maxLength: 256, pattern: CLAIM_NAME },
      'Claim with the user ID.',
    ),
    userName: Type.Optional(claim('Claim with the user name. Unset: the user ID.')),
    roleKey: claim('Claim that roles are matched with: a text or a list of texts.'),
    dataScope: Type.Optional(
      claim(
        'Claim with the data scope, by number or name. Unset: 5 (self), or the scope of the role.',
      ),
    ),
  },
)

const role = group(
  'Maps one value of claims.roleKey to a role. The first that the token has wins.',
  {
    value: string({ minLength: 1, maxLength: 512 }, 'Value of the claim, compared exactly.'),
    role: optionalString(
      { minLength: 1, maxLength: 128 },
      'Role key that callers with this value get. Unset: the value itself.',
    ),
    dataScope: Type.Optional(
      Type.Enum(
        [...dataScopes.map(({ name }) => name), ...dataScopes.map(({ number }) => Number(number))],
        {
          description:
            'Data scope of these callers, by name or number. Unset: claims.dataScope, or 5 (self).',
        },
      ),
    ),
  },
)

const issuer = group('One issuer: how its tokens are verified, and which callers they identify.', {
  issuer: string(
    { minLength: 1, maxLength: 512, pattern: PRINTABLE },
    'Issuer as its tokens name it in iss, compared exactly.',
  ),
  name: optionalString(
    { pattern: ISSUER_NAME },
    'Short name of the issuer in logs, metrics, commands and user IDs. Unset: the host of issuer.',
  ),
  audience: Type.Union(
    [Type.String(audienceText), Type.Array(Type.String(audienceText), { minItems: 1 })],
    { description: 'Accepted audience (`aud`), or a list of them; a token must name one.' },
  ),
  jwksUri: optionalString(
    { minLength: 1, maxLength: 1024 },
    'URL of the public keys. https, or http on a loopback address. Unset: set discovery.',
  ),
  discovery: flag(
    false,
    'Find the keys through the discovery document of the issuer (OpenID Connect), instead of jwksUri.',
  ),
  algorithms: list(
    Type.Enum(issuerAlgorithms, {
      description: 'Algorithm. Shared secrets (HS256) are not supported.',
    }),
    { default: ['RS256', 'ES256'], minItems: 1 },
    'Accepted signature algorithms.',
  ),
  claims: claimSettings,
  roles: Type.Array(role, {
    minItems: 1,
    maxItems: 1000,
    description:
      'Roles by value of the claim claims.roleKey. The first entry that matches wins; without a match the token is refused.',
  }),
  userIdPrefix: optionalString(
    { maxLength: 64, pattern: USER_ID_PREFIX },
    'Text before the user IDs of this issuer, which keeps them apart from accounts. Unset: the name of the issuer and a colon. Empty: user IDs are those of accounts.',
  ),
  typ: optionalString(
    { minLength: 1, maxLength: 64, pattern: PRINTABLE },
    'Required typ in the header of tokens. Unset: JWT, at+jwt, or a missing typ.',
  ),
  acceptIdTokens: flag(
    false,
    'Accept ID tokens as access tokens. Only for issuers whose access tokens cannot be told from ID tokens, such as Dex: an ID token stays valid after a logout.',
  ),
  maxLifetimeSeconds: integer(
    { default: 86_400, from: 1, to: TEN_YEARS_SECONDS },
    'Reject tokens whose lifetime, from issue to expiry, is longer than this many seconds.',
  ),
  caFile: optionalFile(
    'Path of the PEM certificates to verify the server of the keys with. Read at every fetch. Unset: those of Node.',
  ),
  tokenFile: optionalFile(
    'Path of a file with a bearer token for the key request, as Kubernetes requires it. Read at every fetch. Unset: no token.',
  ),
  refreshSeconds: integer(
    { default: 300, from: 1, to: 86_400 },
    'Interval at which the keys are fetched ahead of time, in seconds.',
  ),
  cooldownSeconds: integer(
    { default: 30, from: 1, to: 3600 },
    'Least time between two fetches, in seconds, however many tokens have an unknown key.',
  ),
  waitMs: integer(
    { default: 2000, from: 0, to: 30_000 },
    'Longest time that a request waits for keys, in milliseconds.',
  ),
  maxKeyAgeSeconds: integer(
    { default: 86_400, from: 1, to: 2_592_000 },
    'Time after the last successful fetch for which keys are used, in seconds. After that, tokens of the issuer get 503.',
  ),
})

export const issuersSetting = Type.Array(issuer, {
  default: [],
  maxItems: 50,
  description:
    'Other issuers whose bearer tokens are accepted beside our own, such as an identity provider or Kubernetes.',
})
