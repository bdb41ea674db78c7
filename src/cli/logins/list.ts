import { isAtConsole, messagesOf, outcomeOf } from '../../login/login-record.ts'
import { accountSettings, withExistingDatabase } from '../../operations/configured-database.ts'
import { addressRange } from '../../operations/logins/address-range.ts'
import { maskedText, maskNames } from '../../operations/logins/masked-names.ts'
import { sinceMs } from '../../operations/since.ts'
import { type LoginLogEntry, readLoginLog } from '../../stores/login-log/login-log-reader.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import type { listSpec } from './specs.ts'

/** Lists what the login log says. */
export const loginList: Run<typeof listSpec> = async ({ options }, io) => {
  const { user, address, outcome, limit } = options
  const begin = sinceMs(options.since, io.now?.() ?? Date.now())
  const query = {
    ...{ sinceMs: begin, limit, user },
    messages: outcome === undefined ? undefined : messagesOf(outcome),
    isAddress: address === undefined ? undefined : addressRange('address', address),
  }
  const settings = accountSettings(options.config, io)
  const { log, names } = await withExistingDatabase(settings, async (database) => {
    const found = await readLoginLog(database, query)
    const typed = found.entries.map(({ username }) => username)
    return { log: found, names: await maskNames(typed, options, database) }
  })
  const recording = settings.config.logger.enableddb

  if (options.output === 'json') {
    const attempts = log.entries.map((entry) => asJson(entry, names.shown(entry.username)))
    io.out(json({ since: rfc3339(begin), recording, attempts, more: log.more }))
    return 0
  }
  const rows = log.entries.map((entry) => toRow(entry, names.shown(entry.username)))
  if (rows.length > 0) io.out(formatTable([titles, ...rows]))
  const notes = [
    rows.length === 0 ? `no login attempts since ${rfc3339(begin)} match` : undefined,
    log.more ? `the newest ${limit} only: raise --limit or narrow the search` : undefined,
    names.note,
    recording
      ? undefined
      : 'logger.enableddb is false: gateways with this configuration record no attempts',
  ]
  for (const note of notes) if (note !== undefined) io.err(`postern: ${note}\n`)
  return 0
}

const titles = ['TIME', 'USER', 'OUTCOME', 'ADDRESS', 'CLIENT']

function toRow({ atMs, message, address, ...entry }: LoginLogEntry, name: string | undefined) {
  const client = entry.client || entry.userAgent.slice(0, 40)
  const outcome = outcomeOf(message)
  const shown = outcome && isAtConsole(message) ? `${outcome} (console)` : outcome
  return [rfc3339(atMs), name ?? maskedText, shown ?? message, address, client]
}

function asJson(entry: LoginLogEntry, name: string | undefined) {
  const { atMs, message, succeeded, address, userAgent } = entry
  const outcome = outcomeOf(message) ?? null
  return {
    at: rfc3339(atMs),
    username: name ?? null,
    outcome,
    via: isAtConsole(message) ? 'console' : 'gateway',
    succeeded,
    message,
    address,
    userAgent,
  }
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString()
}
