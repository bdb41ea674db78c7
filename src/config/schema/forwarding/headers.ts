import { PRINTABLE } from '../patterns.ts'
import {
  flag,
  headerName,
  integer,
  optionalString,
  reloading,
  section,
  text,
} from '../setting-builders.ts'

export const headersSettings = reloading('Names of the headers that tell upstreams who calls.', {
  userId: headerName('X-User-Id', 'the user ID'),
  roleKey: headerName('X-Role-Key', 'the role key'),
  dataScope: headerName('X-Data-Scope', 'the data scope'),
  userName: headerName('X-User-Name', 'the user name'),
  roleId: headerName('X-Role-Id', 'the role ID'),
  requestId: headerName('X-Request-Id', 'the request ID'),
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
    },
  ),
})
