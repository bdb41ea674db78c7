import type { LoginMethodKind } from '../../method-kind.ts'
import { checkOidc } from './check-settings.ts'
import type { OidcLogin } from './settings.ts'

/** Logins with OpenID Connect providers. */
export const oidc: LoginMethodKind<OidcLogin> = {
  setting: 'oidc',
  isConfigured: ({ oidc: all = [] }) => all.length > 0,
  check: checkOidc,
  providers: ({ oidc: all = [] }) =>
    all.map((each, index) => {
      const { name, issuer, icon } = each ?? {}
      return { name, issuer, icon, setting: `oidc[${index}]` }
    }),
  load: () => import('./open-oidc.ts'),
}
