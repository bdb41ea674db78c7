import { maskedText, maskNames } from '../../operations/logins/masked-names.ts'
import { type OpenLockout, withLockouts } from '../../operations/logins/open-lockouts.ts'
import type { Run } from '../command.ts'
import { count, formatTable, json } from '../format.ts'
import type { locksSpec } from './specs.ts'

/** Lists what gateways lock out now. */
export const loginLocks: Run<typeof locksSpec> = ({ options }, io) =>
  withLockouts(options.config, io, async ({ open, unreadable, database }) => {
    const typed = open.flatMap(({ name }) => name ?? [])
    const names = await maskNames(typed, options, database)

    if (options.output === 'json') {
      const lockouts = open.map((each) => asJson(each, names.shown(each.name ?? '')))
      io.out(json({ lockouts, unreadable }))
      return 0
    }
    const rows = open.map((each) => toRow(each, names.shown(each.name ?? '')))
    if (rows.length > 0) io.out(formatTable([titles, ...rows]))
    const notes = [
      rows.length === 0 ? 'nothing is locked out' : undefined,
      names.note,
      unreadable === 0
        ? undefined
        : `${count(unreadable, 'more lock-out')} cannot be read: recorded with another signing key`,
    ]
    for (const note of notes) if (note !== undefined) io.err(`postern: ${note}\n`)
    return 0
  })

const titles = ['KIND', 'USER', 'ADDRESS', 'SINCE', 'UNTIL', 'ATTEMPTS']

function toRow(lockout: OpenLockout, shownName: string | undefined): readonly string[] {
  const { kind, name, block, foreign, sinceMs, untilMs, attempts } = lockout
  const user = name === undefined ? '-' : (shownName ?? maskedText)
  const address = `${block ?? '-'}${foreign ? ' (cross-site)' : ''}`
  return [kind, user, address, rfc3339(sinceMs), rfc3339(untilMs), String(attempts)]
}

function asJson(lockout: OpenLockout, shownName: string | undefined) {
  const { kind, name, block, foreign, sinceMs, untilMs, attempts } = lockout
  return {
    kind,
    ...(name !== undefined && { username: shownName ?? null }),
    ...(block !== undefined && { address: block, crossSite: foreign === true }),
    since: rfc3339(sinceMs),
    until: rfc3339(untilMs),
    attempts,
  }
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString()
}
