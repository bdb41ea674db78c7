import { CLAIM_NAME, HEADER_NAME, PRINTABLE } from '../patterns.ts'
import {
  flag,
  headerName,
  integer,
  list,
  optionalString,
  reloading,
  section,
  text,
} from '../setting-builders.ts'
import { Type } from '../type.ts'

export const headersSettings = reloading('Names of the headers that tell upstreams who calls.', {
  userId: headerName('X-User-Id', 'the user ID'),
  roleKey: headerName('X-Role-Key', 'the role key'),
  dataScope: headerName('X-Data-Scope', 'the data scope'),
  userName: headerName('X-User-Name', 'the user name'),
  roleId: headerName('X-Role-Id', 'the role ID'),
  requestId: headerName('X-Request-Id', 'the request ID'),
  claims: Type.Record(
    Type.String({ pattern: CLAIM_NAME }),
    Type.String({ pattern: HEADER_NAME, description: 'Name of the header with this claim.' }),
    {
      additionalProperties: false,
      default: {},
      description:
        'Further headers, by claim: groups, email and name as the login method knows them; any other is a claim of the ID token or token, an attribute of the directory, or a claim of the login module. Tokens carry them from login on.',
    },
  ),
  preset: Type.Optional(
    Type.Enum(['oauth2-proxy', 'authelia'], {
      description:
        'Also sends the headers of another proxy. oauth2-proxy: X-Forwarded-User, -Preferred-Username, -Email and -Groups; authelia: Remote-User, -Name, -Email and -Groups. Unset: none.',
    }),
  ),
  claimBytes: integer(
    { default: 2048, from: 64, to: 16_384 },
    'Maximum size of the claims of one token, as JSON, in bytes. A claim that does not fit is left out.',
  ),
})

export const identitySettings = section('Caller identity that upstreams can verify themselves.', {
  assertion: section(
    'Short-lived JWT about the caller, verifiable with the public keys of the ops listener.',
    {
      enabled: flag(
        false,
        'Send an assertion with every request that has a caller. Requires jwt.keyDirectory.',
      ),
      header: headerName('X-Postern-Assertion', 'the assertion'),
      issuer: text('postern', 'Issuer of assertions, in the claim iss.', PRINTABLE),
      audience: optionalString(
        { minLength: 1, maxLength: 256, pattern: PRINTABLE },
        'Audience of assertions, in the claim aud. Required with forwardAuth. Unset: the name of the upstream.',
      ),
      lifetimeSeconds: integer(
        { default: 60, from: 10, to: 3600 },
        'Lifetime of an assertion, in seconds.',
      ),
      claims: list(
        Type.String({ maxLength: 256, pattern: CLAIM_NAME, description: 'A claim.' }),
        { default: [] },
        'Claims of headers.claims or others, sent in the claim claims of the assertion.',
      ),
    },
  ),
})
