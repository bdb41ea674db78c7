import { openEndpoints } from '../../answers/open.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { RunOf } from '../operation.ts'
import { dated } from './dated.ts'
import type { policyOpen } from './descriptions.ts'
import { aboutPolicy, findPolicy, policyName } from './policy-query.ts'

/** Lists every endpoint that needs no permission, and why. */
export const run: RunOf<typeof policyOpen, string> = async (input, context) => {
  const query = await findPolicy({ ...input, config: context.configFile }, context, 'optional')
  const { config } = query.settings
  const others = config === undefined ? null : otherTokens(config)
  const document = dated({ ...openEndpoints(query), otherTokens: others, ...aboutPolicy(query) })
  return { document, shown: policyName(query) }
}

/** Tokens that a gateway accepts although no login issued them: by default a login is the only way in. */
function otherTokens({ tokens: { service }, issuers }: Config) {
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
