import { json, policyCommand } from './policy-command.ts'
import { convergenceOf, inShort } from './policy-convergence.ts'
import { policySettings, withPolicyStore } from './policy-settings.ts'
import { formatTable } from './table.ts'

const help = `usage: postern policy status [--output text|json] [--config FILE]

Says which revision is published and which replicas decide by it, as they report to Redis.

  postern policy status
  watch -n 2 postern policy status
  postern policy status --output json | jq -r '.replicas[] | select(.stale) | .id'

Exit codes: 0 every replica that reports decides by it, 1 some do not or nothing is published,
2 bad arguments.
`

/** Shows what is in force, and where. */
export const policyStatus = policyCommand(
  { help, options: {}, positionals: [0, 0] },
  ({ values, output }, io) =>
    withPolicyStore(policySettings(values.config, io), async (store) => {
      const head = await store.head()
      const replicas = await store.replicas()
      const convergence = head && convergenceOf(head, replicas)
      const converged = convergence !== undefined && convergence.behind.length === 0
      if (output === 'json') {
        io.out(json({ converged, head: head ?? null, replicas }))
        return converged ? 0 : 1
      }
      io.out(convergence === undefined ? 'nothing is published yet\n' : `${inShort(convergence)}\n`)
      const rows = replicas.map(({ id, revision = '-', stale, ageSeconds, version }) => {
        const state = stale ? 'stale' : revision === head?.revision ? 'current' : 'behind'
        return [id, revision, state, `${ageSeconds} s ago`, version]
      })
      const titles = ['REPLICA', 'REVISION', 'STATE', 'REPORTED', 'VERSION']
      if (rows.length > 0) io.out(formatTable([titles, ...rows]))
      return converged ? 0 : 1
    }),
)
