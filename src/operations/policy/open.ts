import { openEndpoints } from '../../answers/open.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { RunOf } from '../operation.ts'
import { aboutPolicy, askedPolicy, policyName } from './asked-policy.ts'
import { dated } from './dated.ts'
import type { policyOpen } from './descriptions.ts'

/** Lists every endpoint that needs no permission, and why. */
export const run: RunOf<typeof policyOpen, string> = async (input, context) => {
  const asked = await askedPolicy({ ...input, config: context.configFile }, context, 'optional')
  const { config } = asked.settings
  const others = config === undefined ? null : otherTokens(config)
  const document = dated({ ...openEndpoints(asked), otherTokens: others, ...aboutPolicy(asked) })
  return { document, shown: policyName(asked) }
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
