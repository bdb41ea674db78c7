import { isAtConsole, messagesOf, outcomeOf } from '../../login/login-record.ts'
import { type LoginLogEntry, readLoginLog } from '../../stores/login-log/login-log-reader.ts'
import { accountSettings, withExistingDatabase } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import { sinceMs } from '../since.ts'
import { addressRange } from './address-range.ts'
import type { loginList } from './descriptions.ts'
import { maskNames } from './masked-names.ts'

/** Lists what the login log says. */
export const run: RunOf<typeof loginList> = (input, context) => {
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
    const attempts = entries.map((entry) => described(entry, shown(entry.username)))
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

function described({ atMs, message, ...entry }: LoginLogEntry, shownName: string | undefined) {
  const { succeeded, address, client, userAgent } = entry
  return {
    at: rfc3339(atMs),
    username: shownName ?? null,
    outcome: outcomeOf(message) ?? null,
    via: isAtConsole(message) ? ('console' as const) : ('gateway' as const),
    ...{ succeeded, message, address, client, userAgent },
  }
}
