import { issuerAlgorithms } from '../../../token/issuers/issuer.ts'
import { CLAIM_NAME, METHOD_NAME, NOT_BLANK, PRINTABLE, SCOPE } from '../patterns.ts'
import {
  choice,
  flag,
  group,
  integer,
  list,
  optionalFile,
  optionalString,
  section,
  string,
} from '../setting-builders.ts'
import { Type } from '../type.ts'

const claim = (value: string, description: string) =>
  Type.String({ default: value, minLength: 1, maxLength: 256, pattern: CLAIM_NAME, description })

const url = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1024, pattern: PRINTABLE, description })

const claimSettings = section(
  'Claims of the ID token: the name of a claim, or a JSON pointer such as /realm_access/roles.',
  {
    username: claim('preferred_username', 'Claim with the name of the account.'),
    displayName: claim('name', 'Claim with the display name of a new account.'),
    email: claim('email', 'Claim with the email address of a new account.'),
    groups: claim('groups', 'Claim that roles are matched with: a text or a list of texts.'),
  },
)

const role = group('Maps one value of claims.groups to a role.', {
  value: string(
    { minLength: 1, maxLength: 512 },
    'Value of the claim claims.groups, compared exactly.',
  ),
  role: string(
    { minLength: 1, maxLength: 128 },
    'Key of the role that accounts with this value get.',
  ),
})

const logoutSettings = section('Logouts here and at the provider.', {
  endSession: flag(
    false,
    'Return the logout URL of the provider as logoutUrl from POST /api/v1/logout (RP-initiated logout).',
  ),
  postLogoutRedirectUri: Type.Optional(
    url('Where the provider sends the browser after its logout. Unset: it stays at the provider.'),
  ),
  backChannel: flag(
    false,
    'Accept logout tokens of the provider at /api/v1/login/oidc/NAME/backchannel-logout.',
  ),
})

const provider = group('One OpenID Connect provider.', {
  name: string(
    { pattern: METHOD_NAME },
    'Name of the provider in paths, logins, metrics and links of accounts. Use a new name for a new issuer.',
  ),
  label: optionalString(
    { minLength: 1, maxLength: 64, pattern: NOT_BLANK },
    'Name of the provider on the login page, for people. Unset: its name.',
  ),
  icon: optionalFile(
    'Path of a picture for its button on the login page: SVG, PNG or WebP, 256 KiB at most. Unset: no picture.',
  ),
  prompt: Type.Optional(
    Type.Enum(['login', 'select_account'], {
      description:
        'What the provider asks for at each login, although the person is logged in there. login: credentials; select_account: which account. Unset: the provider decides.',
    }),
  ),
  issuer: url(
    'Issuer URL, exactly as the discovery document of the provider names it. https, or http on a loopback address.',
  ),
  clientId: string(
    { minLength: 1, maxLength: 512, pattern: PRINTABLE },
    'Client ID of Postern at the provider.',
  ),
  clientSecret: optionalString(
    { minLength: 1, maxLength: 1024, pattern: NOT_BLANK, writeOnly: true },
    'Client secret of Postern at the provider. Prefer clientSecretFile. Unset: see clientSecretFile and clientAuth.',
  ),
  clientSecretFile: optionalFile(
    'Path of a file with the client secret. Read at every login, so that it can be replaced. Unset: see clientSecret.',
  ),
  clientAuth: choice(
    ['basic', 'post', 'none'],
    'How Postern sends its client secret: in the Authorization header (basic), in the body (post), or not at all (none, a public client).',
  ),
  scopes: list(
    string({ pattern: SCOPE }, 'Scope.'),
    { default: ['openid', 'profile', 'email'], minItems: 1, maxItems: 50 },
    'Scopes to request. openid is required.',
  ),
  // Never made from a Host header, which a client chooses.
  redirectUri: url(
    'Callback as browsers see it, such as https://app.example.com/api/v1/login/oidc/NAME/callback. Register it at the provider.',
  ),
  appRedirectUris: list(
    url('Redirect URI of an application.'),
    { default: [], maxItems: 50 },
    'Redirect URIs of single-page applications that finish the login with POST /api/v1/login. Register them at the provider.',
  ),
  idTokenAlgorithm: choice(issuerAlgorithms, 'The one accepted signature algorithm of ID tokens.'),
  claims: claimSettings,
  roles: Type.Optional(
    Type.Array(role, {
      minItems: 1,
      maxItems: 1000,
      description:
        'Roles by value of the claim claims.groups, set at every login. The first entry that matches wins; without a match the login is refused. Unset: the account keeps its role.',
    }),
  ),
  create: flag(
    false,
    'Create an account at the first login of a person. Requires roles. Off: link accounts with "user link".',
  ),
  linkByUsername: flag(
    false,
    'Link an existing account of the same name at the first login. Only for providers where people cannot choose their user name.',
  ),
  acrValues: Type.Optional(
    Type.Array(url('Authentication context class.'), {
      minItems: 1,
      maxItems: 20,
      description:
        'Authentication context classes (acr_values) to ask the provider for. Unset: the provider decides.',
    }),
  ),
  requiredAcr: Type.Optional(
    Type.Array(url('Authentication context class.'), {
      minItems: 1,
      maxItems: 20,
      description:
        'Authentication context classes, of which the ID token must have one in acr. Unset: any.',
    }),
  ),
  caFile: optionalFile(
    'Path of the PEM certificates to verify the provider with. Read at every discovery. Unset: those of Node.',
  ),
  timeoutMs: integer(
    { default: 5000, from: 100, to: 60_000 },
    'Longest time that one request to the provider takes, in milliseconds. After that, the login gets 503.',
  ),
  refreshSeconds: integer(
    { default: 300, from: 10, to: 86_400 },
    'Interval at which the discovery document and the keys are fetched again, in seconds.',
  ),
  logout: logoutSettings,
})

export const oidcSetting = Type.Array(provider, {
  default: [],
  maxItems: 20,
  description: 'OpenID Connect providers that people can log in with.',
})
