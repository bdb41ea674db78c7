import { readDataScope } from '../kernel/data-scope.ts'
import type { Config } from './schema/schema.ts'

type IssuerSettings = Config['issuers'][number]

/** Every configured issuer with its defaults that depend on other settings. */
export function configuredIssuers(issuers: readonly IssuerSettings[]) {
  return issuers.map((settings) => {
    const name = issuerName(settings) ?? ''
    const { audience, roles, userIdPrefix = `${name}:` } = settings
    return {
      ...settings,
      name,
      userIdPrefix,
      audience: typeof audience === 'string' ? [audience] : audience,
      roles: roles.map(({ value, role = value, dataScope }) => {
        return { value, role, dataScope: readDataScope(String(dataScope ?? '')) }
      }),
    }
  })
}

/** The name of an issuer: its own, else the host of its URL; `undefined` if that is not a name. */
export function issuerName({
  name,
  issuer = '',
}: {
  readonly name?: string | undefined
  readonly issuer?: string | undefined
}): string | undefined {
  if (name !== undefined) return name
  const { hostname = '' } = URL.parse(issuer) ?? {}
  return /^[a-z0-9][a-z0-9.-]{0,62}$/.test(hostname) ? hostname : undefined
}
