import type { oidcSetting } from '../../../config/schema/login/oidc.ts'
import type { ValueOf } from '../../../config/schema/type.ts'

export interface OidcLogin {
  readonly oidc: readonly OidcSettings[]
}

/** A provider. */
export type OidcSettings = ValueOf<typeof oidcSetting>[number]

/** What the provider itself is asked with. */
export type ProviderClient = Omit<
  OidcSettings,
  | 'label'
  | 'icon'
  | 'redirectUri'
  | 'appRedirectUris'
  | 'claims'
  | 'roles'
  | 'create'
  | 'linkByUsername'
  | 'logout'
>
