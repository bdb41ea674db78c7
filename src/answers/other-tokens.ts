/** The settings that let a caller in without a login. */
interface TokenSettings {
  readonly tokens: { readonly service: { readonly enabled: boolean; readonly maxLifetime: number } }
  readonly issuers: readonly {
    readonly issuer: string
    /** A value of the role claim, and the role that it stands for, if that has another key. */
    readonly roles: readonly { readonly value: string; readonly role?: string }[]
  }[]
}

/** A kind of token that a gateway accepts although no login issued it. Rules decide on it as on others. */
type OtherTokens =
  | { readonly kind: 'service'; readonly maxLifetimeSeconds: number }
  | { readonly kind: 'issuer'; readonly issuer: string; readonly roles: readonly string[] }

/** Lists them, because by default a login is the only way in. */
export function otherTokens({ tokens: { service }, issuers }: TokenSettings): OtherTokens[] {
  return [
    ...(service.enabled
      ? [{ kind: 'service', maxLifetimeSeconds: service.maxLifetime } as const]
      : []),
    ...issuers.map(({ issuer, roles }) => {
      const mapped = [...new Set(roles.map(({ value, role = value }) => role))]
      return { kind: 'issuer', issuer, roles: mapped } as const
    }),
  ]
}
