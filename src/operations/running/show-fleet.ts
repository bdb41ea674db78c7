import { clockWarning } from '../../fleet/clock-offset.ts'
import type { RunOf } from '../operation.ts'
import type { fleet } from './descriptions.ts'
import { readFleet } from './read-fleet.ts'

/** Shows every gateway that is known. */
export const run: RunOf<typeof fleet, { readonly now: number }> = async ({ ops }, context) => {
  const document = await readFleet(ops, context)
  const notes = document.replicas
    .filter(({ state }) => state !== 'lost')
    .map(({ id, facts }) => clockWarning(id, facts?.clock))
  return {
    document,
    shown: { now: context.now() },
    notes: notes.filter((note) => note !== ''),
    outcome: document.converged ? 'done' : 'no',
  }
}
