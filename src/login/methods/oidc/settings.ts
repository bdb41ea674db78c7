import type { IssuerAlgorithm } from '../../../token/issuers/issuer.ts'
import type { OidcPrompt } from '../../redirect-login.ts'

export interface OidcLogin {
  readonly oidc: readonly OidcSettings[]
}

/** A provider, as the configuration has it. */
export interface OidcSettings {
  readonly name: string
  /** For people. */
  readonly label?: string | undefined
  /** The file of a picture. */
  readonly icon?: string | undefined
  readonly prompt?: OidcPrompt | undefined
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly clientSecretFile?: string | undefined
  readonly clientAuth: 'basic' | 'post' | 'none'
  readonly scopes: readonly string[]
  /** Our callback, as browsers see it. Never made from a Host header, which a client chooses. */
  readonly redirectUri: string
  readonly appRedirectUris: readonly string[]
  readonly idTokenAlgorithm: IssuerAlgorithm
  readonly claims: {
    readonly username: string
    readonly displayName: string
    readonly email: string
    readonly groups: string
  }
  readonly roles?: readonly { readonly value: string; readonly role: string }[] | undefined
  readonly create: boolean
  readonly linkByUsername: boolean
  readonly acrValues?: readonly string[] | undefined
  readonly requiredAcr?: readonly string[] | undefined
  readonly caFile?: string | undefined
  readonly timeoutMs: number
  readonly refreshSeconds: number
  readonly logout: {
    readonly endSession: boolean
    readonly postLogoutRedirectUri?: string | undefined
    readonly backChannel: boolean
  }
}

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
