import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { policySettings, withPolicyStore } from '../settings.ts'
import type { historySpec } from './specs.ts'

/** Shows the moves of the head. */
export const policyHistory: Run<typeof historySpec> = async ({ options }, io) => {
  const moves = await withPolicyStore(policySettings(options.config, io), (store) =>
    store.history(options.limit),
  )
  if (options.output === 'json') {
    io.out(json(moves))
    return 0
  }
  if (moves.length === 0) io.err('nothing is published yet\n')
  const rows = moves.map(({ at, revision, kind, author, message }) => {
    return [at, revision, kind, author, message]
  })
  const titles = ['AT', 'REVISION', 'KIND', 'AUTHOR', 'WHY']
  if (rows.length > 0) io.out(formatTable([titles, ...rows]))
  return 0
}
