import { withDatabase } from '../../operations/configured-database.ts'
import { declineService } from '../../operations/services/unknown-names.ts'
import {
  configuredKeys,
  type TokenSettings,
  tokenSettings,
} from '../../operations/tokens/configured-keys.ts'
import { readRevocations } from '../../operations/tokens/revoke-tokens.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { createServiceTokens, type ListedToken } from '../../stores/services/service-tokens.ts'
import type { KeySet } from '../../token/key-set.ts'
import { excessiveLifetime } from '../../token/lifetime.ts'
import { createRevocations, type Revocations } from '../../token/revocations.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { operator } from '../operator.ts'
import type { tokenListSpec } from './specs.ts'

type Status = 'good' | 'expired' | 'revoked' | 'key removed' | 'too long-lived'

/** Lists the tokens that commands issued, newest first, with what a gateway says of each. */
export const tokenList: Run<typeof tokenListSpec> = async ({ options }, io) => {
  const { service, output } = options
  const settings = tokenSettings(options.config, io)
  const keys = await configuredKeys(settings)
  const revocations = createRevocations(Date.now)
  const tokens = await withDatabase(settings, async (database) => {
    const found = await createServiceTokens(database, operator(io)).list(service)
    if (found.length === 0 && service !== undefined) {
      const services = await createServiceDirectory(database).list()
      if (!services.some(({ name }) => name === service)) return declineService(service, database)
    }
    await readRevocations(revocations, settings, (_, work) => work(database))
    return found
  })
  if (!settings.config.tokens.service.enabled && tokens.length > 0) {
    io.err(
      'postern: no gateway with this configuration accepts them: tokens.service.enabled is false\n',
    )
  }
  const known = { keys, revocations, config: settings.config }
  const shown = tokens.map((token) => describe(token, statusOf(token, known)))
  io.out(output === 'json' ? json(shown) : formatTable([titles, ...shown.map(row)]))
  return 0
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

function describe(token: ListedToken, status: Status) {
  const { id, userId, service, roleKey: role, note, kid, issuedBy } = token
  return {
    ...{ id, service, userId, role, status, note, issuedBy },
    issuedAt: time(token.issuedAt),
    expiresAt: time(token.expiresAt),
    lastSeen: token.seenAt === undefined ? null : time(token.seenAt),
    kid: kid ?? null,
  }
}

const titles = [
  ...['ID', 'SERVICE', 'ROLE', 'STATUS', 'ISSUED', 'EXPIRES', 'LAST SEEN', 'KEY', 'ISSUED BY'],
  'NOTE',
]

function row(token: ReturnType<typeof describe>): readonly string[] {
  const { id, service, role, status, issuedAt, expiresAt, lastSeen, kid, issuedBy, note } = token
  return [
    ...[id, service, role, status, day(issuedAt), day(expiresAt), lastSeen ?? 'never'],
    ...[kid ?? 'jwt.secret', issuedBy, note],
  ]
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}

function day(iso: string): string {
  return iso.slice(0, 10)
}
