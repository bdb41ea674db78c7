import type { RunOf } from '../operation.ts'
import { rfc3339 } from '../rfc3339.ts'
import type { loginLocks } from './descriptions.ts'
import { maskNames } from './masked-names.ts'
import { type OpenLockout, withLockouts } from './open-lockouts.ts'

/** Lists what gateways lock out now. */
export const run: RunOf<typeof loginLocks> = (input, context) =>
  withLockouts(context.configFile, context, async ({ open, unreadable, database }) => {
    const typed = open.flatMap(({ name }) => name ?? [])
    const { shown, note } = await maskNames(typed, input, database)
    const lockouts = open.map((each) => described(each, shown(each.name ?? '')))
    return { document: { lockouts, unreadable }, notes: note }
  })

function described(lockout: OpenLockout, shownName: string | undefined) {
  const { kind, name, block, foreign, sinceMs, untilMs, attempts } = lockout
  return {
    kind,
    ...(name !== undefined && { username: shownName ?? null }),
    ...(block !== undefined && { address: block, crossSite: foreign === true }),
    ...{ since: rfc3339(sinceMs), until: rfc3339(untilMs), attempts },
  }
}
