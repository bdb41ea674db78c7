import { BlockList, isIP } from 'node:net'
import { isAtConsole, messagesOf, outcomeOf } from '../../login/login-record.ts'
import { type LoginLogEntry, readLoginLog } from '../../stores/login-log/login-log-reader.ts'
import { accountSettings, withExistingDatabase } from '../configured-database.ts'
import { sinceMs } from '../duration.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import type * as described from './descriptions.ts'
import { maskNames } from './masked-names.ts'
import { type OpenLockout, withLockouts } from './open-lockouts.ts'

/** Lists what the login log says. */
export const loginList: RunOf<typeof described.loginList> = (input, context) => {
  const { user, address, outcome, limit } = input
  const begin = sinceMs(input.since, context.now())
  const query = {
    ...{ sinceMs: begin, limit, user },
    messages: outcome === undefined ? undefined : messagesOf(outcome),
    isAddress: address === undefined ? undefined : addressRange('address', address),
  }
  const settings = accountSettings(context.configFile, context)
  return withExistingDatabase(settings, async (database) => {
    const { entries, more } = await readLoginLog(database, query)
    const typed = entries.map(({ username }) => username)
    const { shown, note } = await maskNames(typed, input, database)
    const attempts = entries.map((entry) => attemptOf(entry, shown(entry.username)))
    const recording = settings.config.logger.enableddb
    const since = rfc3339(begin)
    return {
      document: { since, recording, attempts, more },
      notes: [
        ...(attempts.length === 0 ? [`no login attempts since ${since} match`] : []),
        ...(more ? [`the newest ${limit} only: raise --limit or narrow the search`] : []),
        ...note,
        ...(recording
          ? []
          : ['logger.enableddb is false: gateways with this configuration record no attempts']),
      ],
    }
  })
}

function attemptOf({ atMs, message, ...entry }: LoginLogEntry, shownName: string | undefined) {
  const { succeeded, address, client, userAgent } = entry
  return {
    at: rfc3339(atMs),
    username: shownName ?? null,
    outcome: outcomeOf(message) ?? null,
    via: isAtConsole(message) ? ('console' as const) : ('gateway' as const),
    ...{ succeeded, message, address, client, userAgent },
  }
}

/** Reads an address or a range in CIDR notation. Throws `InvalidInput` on anything else. */
function addressRange(field: string, text: string): (address: string) => boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  const most = version === 6 ? 128 : 32
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || rest.length > 0 || !(prefix <= most)) {
    throw new InvalidInput(
      field,
      `${JSON.stringify(text)} is not an address or a range such as 192.0.2.0/24 or 2001:db8::/32`,
    )
  }
  const range = new BlockList()
  range.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4')
  return (other) => {
    const family = isIP(other)
    return family !== 0 && range.check(other, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Lists what gateways lock out now. */
export const loginLocks: RunOf<typeof described.loginLocks> = (input, context) =>
  withLockouts(context.configFile, context, async ({ open, unreadable, database }) => {
    const typed = open.flatMap(({ name }) => name ?? [])
    const { shown, note } = await maskNames(typed, input, database)
    const lockouts = open.map((each) => lockoutOf(each, shown(each.name ?? '')))
    return { document: { lockouts, unreadable }, notes: note }
  })

function lockoutOf(lockout: OpenLockout, shownName: string | undefined) {
  const { kind, name, block, foreign, sinceMs, untilMs, attempts } = lockout
  return {
    kind,
    ...(name !== undefined && { username: shownName ?? null }),
    ...(block !== undefined && { address: block, crossSite: foreign === true }),
    ...{ since: rfc3339(sinceMs), until: rfc3339(untilMs), attempts },
  }
}
