import type { PolicyStore, ReplicaReport } from '../../stores/policies/policies.ts'
import { count, json, policyCommand } from '../command.ts'
import { policySettings, refuse, withPolicyStore } from '../settings.ts'
import { formatTable } from '../table.ts'
import { convergenceOf, formatLost, inShort, isConverged, noReplicas } from './convergence.ts'

const help = `usage: postern policy status [--forget ID|lost] [--output text|json] [--config FILE]

Says which revision is published and which replicas decide by it, as they report to Redis. A replica
that stops reporting without an orderly shutdown stays on the list as lost for a day: if it still
runs, it decides by its last policy. Forget one that no longer runs.

  postern policy status
  postern policy status --forget gw-7-3fa91c       this one no longer runs
  postern policy status --forget lost              none of the lost ones runs
  watch -n 2 postern policy status
  postern policy status --output json | jq -r '.replicas[] | select(.lost) | .id'

Exit codes: 0 every known replica decides by it, 1 some do not, some are lost, none has reported, or
nothing is published, 2 bad arguments.
`

/** Shows what is active, and where. */
export const policyStatus = policyCommand(
  { help, options: { forget: { type: 'string' } }, positionals: [0, 0] },
  ({ values, output }, io) =>
    withPolicyStore(policySettings(values.config, io), async (store) => {
      if (values.forget !== undefined) {
        const forgotten = await forget(values.forget, store)
        io.err(`forgot ${count(forgotten, 'replica')}\n`)
      }
      const head = await store.head()
      const replicas = await store.replicas()
      const convergence = head && convergenceOf(head, replicas)
      const converged = convergence !== undefined && isConverged(convergence)
      if (output === 'json') {
        io.out(json({ converged, head: head ?? null, replicas }))
        return converged ? 0 : 1
      }
      io.out(convergence === undefined ? 'nothing is published yet\n' : `${inShort(convergence)}\n`)
      const rows = replicas.map((replica) => {
        const { id, revision = '-', ageSeconds, version } = replica
        return [id, revision, stateOf(replica, head?.revision), `${ageSeconds} s ago`, version]
      })
      const titles = ['REPLICA', 'REVISION', 'STATE', 'REPORTED', 'VERSION']
      if (rows.length > 0) io.out(formatTable([titles, ...rows]))
      io.err(replicas.length === 0 && head !== undefined ? noReplicas : '')
      io.err(formatLost(replicas.filter(({ lost }) => lost)))
      return converged ? 0 : 1
    }),
)

function stateOf({ lost, stale, revision }: ReplicaReport, live: string | undefined): string {
  if (lost) return 'lost'
  if (stale) return 'stale'
  return revision === live ? 'current' : 'behind'
}

/** Only lost replicas: one that runs would be back with its next report. */
async function forget(which: string, store: PolicyStore): Promise<number> {
  const replicas = await store.replicas()
  const lost = replicas.filter((each) => each.lost && (which === 'lost' || each.id === which))
  if (lost.length === 0 && which !== 'lost') {
    const isKnown = replicas.some(({ id }) => id === which)
    return refuse(isKnown ? `${which} still reports: stop it first` : `no such replica: ${which}`)
  }
  for (const { id } of lost) await store.forgetReplica(id)
  return lost.length
}
