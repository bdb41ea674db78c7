import { TOTP_ISSUER } from '../patterns.ts'
import { section, string } from '../setting-builders.ts'
import { Type } from '../type.ts'

export const secondFactorSettings = section(
  'One-time codes (TOTP) as a second factor. Accounts that "postern user totp" enrolled always need one.',
  {
    roles: Type.Array(string({ minLength: 1, maxLength: 128 }, 'Role key, such as admin.'), {
      default: [],
      maxItems: 100,
      uniqueItems: true,
      description:
        'Roles whose accounts must have one-time codes: login refuses those that are not enrolled. Logins through login.oidc are not affected.',
    }),
    issuer: string(
      { default: 'Postern', minLength: 1, maxLength: 64, pattern: TOTP_ISSUER },
      'Name that authenticator apps show above the code, such as that of your product.',
    ),
  },
)
