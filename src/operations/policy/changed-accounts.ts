import type { PlacedDiff } from '../../answers/placed-diff.ts'
import type { Surroundings } from '../context.ts'
import type { PolicySettings } from '../policy-settings.ts'
import { countAccounts } from './account-counts.ts'

/** The accounts of the roles that gain or lose at a gateway with this configuration. */
export async function changedAccounts(
  { changes }: PlacedDiff,
  settings: PolicySettings,
  io: Surroundings,
) {
  const { of, problem } = await countAccounts(settings, io, true)
  const shares = changes.flatMap(({ direction, hasEffect, shares }) =>
    hasEffect ? shares.map(({ roles }) => ({ direction, roles })) : [],
  )
  const rolesThat = (change: string) =>
    new Set(shares.flatMap(({ direction, roles }) => (direction === change ? roles : [])))
  const [gaining, losing] = [rolesThat('gain'), rolesThat('loss')]
  const accounts = [...new Set([...gaining, ...losing])].sort().flatMap((roleKey) => {
    const { enabled = 0, disabled = 0, names = [] } = of(roleKey) ?? {}
    const about = { roleKey, gains: gaining.has(roleKey), loses: losing.has(roleKey) }
    return enabled + disabled === 0 ? [] : { ...about, enabled, disabled, names }
  })
  const isAboutAll = shares.some(({ roles }) => roles.length === 0)
  const all = isAboutAll ? 'a change that names no role can be about every account' : undefined
  return { accounts: problem === undefined ? accounts : undefined, note: problem ?? all }
}
