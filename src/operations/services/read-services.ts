import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { createServiceTokens, type ListedToken } from '../../stores/services/service-tokens.ts'
import type { KeySet } from '../../token/key-set.ts'
import { excessiveLifetime } from '../../token/lifetime.ts'
import { createRevocations, type Revocations } from '../../token/revocations.ts'
import { inDatabase, withDatabase } from '../configured-database.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import { configuredKeys, type TokenSettings, tokenSettings } from '../tokens/configured-keys.ts'
import { readRevocations } from '../tokens/revoke-tokens.ts'
import type * as described from './descriptions.ts'
import { declineService } from './refusals.ts'

type Status = DocumentOf<typeof described.tokenList>[number]['status']

/** Lists the service accounts. IDs are text, so that they are exact. */
export const serviceList: RunOf<typeof described.serviceList> = (_, context) =>
  inDatabase(context, async (database) => {
    const services = await createServiceDirectory(database).list()
    return {
      document: services.map(({ roleKey: role, createdAt, ...service }) => {
        return { ...service, createdAt: createdAt.toISOString(), role }
      }),
    }
  })

/** Lists the tokens that were issued to services, newest first, with what a gateway says of each. */
export const tokenList: RunOf<typeof described.tokenList> = async ({ service }, context) => {
  const settings = tokenSettings(context.configFile, context)
  const keys = await configuredKeys(settings)
  const revocations = createRevocations(Date.now)
  const tokens = await withDatabase(settings, async (database) => {
    const found = await createServiceTokens(database, context.actor).list(service)
    if (found.length === 0 && service !== undefined) {
      const services = await createServiceDirectory(database).list()
      if (!services.some(({ name }) => name === service)) return declineService(service, database)
    }
    await readRevocations(revocations, settings, (_, work) => work(database))
    return found
  })
  const { config } = settings
  const known = { keys, revocations, config }
  return {
    document: tokens.map((token) => documentOf(token, statusOf(token, known))),
    notes:
      config.tokens.service.enabled || tokens.length === 0
        ? []
        : ['no gateway with this configuration accepts them: tokens.service.enabled is false'],
  }
}

const kind = 'service'

interface Known {
  readonly keys: KeySet
  readonly revocations: Revocations
  readonly config: TokenSettings['config']
}

function statusOf(token: ListedToken, { keys, revocations, config }: Known): Status {
  if (token.expiresAt <= Date.now()) return 'expired'
  if (token.revokedAt !== undefined || revocations.check({ ...token, kind }) === 'revoked')
    return 'revoked'
  if (keys.find(token.kid) === undefined) return 'key removed'
  const { issuedAt, expiresAt } = token
  const times = { issuedAt, expiresAt: expiresAt / 1000 }
  const { clockSkewSeconds } = config.jwt
  const limit = { maxLifetimeSeconds: config.tokens.service.maxLifetime, clockSkewSeconds }
  const lifetime = excessiveLifetime(times, limit, Date.now() / 1000)
  return lifetime === undefined ? 'good' : 'too long-lived'
}

function documentOf(token: ListedToken, status: Status) {
  const { id, userId, service, roleKey: role, note, kid, issuedBy } = token
  return {
    ...{ id, service, userId, role, status, note, issuedBy },
    issuedAt: rfc3339(token.issuedAt),
    expiresAt: rfc3339(token.expiresAt),
    lastSeen: token.seenAt === undefined ? null : rfc3339(token.seenAt),
    kid: kid ?? null,
  }
}
