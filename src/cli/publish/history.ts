import { badArguments, decimal, json, policyCommand } from '../command.ts'
import { policySettings, withPolicyStore } from '../settings.ts'
import { formatTable } from '../table.ts'

const help = `usage: postern policy history [--limit N] [--output text|json] [--config FILE]

Lists who published which revision, when and why, newest first.

  postern policy history
  postern policy history --limit 100
  postern policy history --output json | jq -r '.[] | select(.author == "ci") | .revision'

Exit codes: 0, 1 fault, 2 bad arguments.
`

/** Shows the moves of the head. */
export const policyHistory = policyCommand(
  { help, options: { limit: { type: 'string' } }, positionals: [0, 0] },
  async ({ values, output }, io) => {
    const most = decimal(values.limit ?? '20')
    if (most === undefined || !Number.isSafeInteger(most) || most < 1) {
      return badArguments('--limit is a whole number from 1', { help, io })
    }
    const moves = await withPolicyStore(policySettings(values.config, io), (store) =>
      store.history(most),
    )
    if (output === 'json') {
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
  },
)
