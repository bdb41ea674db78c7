import { clockWarning } from '../../fleet/clock-offset.ts'
import { decline } from '../../operations/declined.ts'
import { untrustedHead } from '../../operations/policy/versions.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { convergenceOf, isConverged } from '../../operations/publish/convergence.ts'
import type { PolicyStore, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, printable } from '../format.ts'
import { formatConvergence, formatLost, noReplicas } from './convergence-in-words.ts'
import { summarizeShadow } from './shadow-in-words.ts'
import type { statusSpec } from './specs.ts'

/** Shows which revision each replica uses. */
export const policyStatus: Run<typeof statusSpec> = async ({ options }, io) => {
  const settings = policySettings(options.config, io)
  const trust = settings.trust()
  return withPolicyStore(settings, async (store) => {
    if (options.forget !== undefined) {
      const forgotten = await forget(options.forget, store)
      io.err(`forgot ${count(forgotten, 'replica')}\n`)
    }
    const live = await readLiveState(store, { trust, now: Date.now() })
    io.err(untrustedHead(live))
    const { head } = live
    const replicas = await store.replicas()
    const shadow = await summarizeShadow(store, replicas)
    const convergence = head && convergenceOf(head, replicas)
    const converged = convergence !== undefined && isConverged(convergence)
    if (options.output === 'json') {
      const signatures = trust?.signatures ?? 0
      const report = { converged, head: head ?? null, signatures, replicas }
      io.out(json({ ...report, shadow: shadow?.json ?? null }))
      return converged ? exitCodes.done : exitCodes.no
    }
    io.out(
      convergence === undefined
        ? 'nothing is published yet\n'
        : `${formatConvergence(convergence)}\n`,
    )
    const rows = replicas.map((replica) => {
      const { id, revision = '-', ageSeconds, version } = replica
      return [id, revision, stateOf(replica, head?.revision), `${ageSeconds} s ago`, version]
    })
    const titles = ['REPLICA', 'REVISION', 'STATE', 'REPORTED', 'VERSION']
    if (rows.length > 0) io.out(formatTable([titles, ...rows]))
    for (const { id, lastError } of replicas) {
      if (lastError !== undefined) io.out(printable(`${id} last error: ${lastError}`).concat('\n'))
    }
    for (const { id, lost, facts } of replicas) {
      const warned = lost ? '' : clockWarning(id, facts?.clock)
      if (warned !== '') io.err(`${printable(warned)}\n`)
    }
    if (shadow !== undefined) io.out(`${shadow.line}\n`)
    io.err(replicas.length === 0 && head !== undefined ? noReplicas : '')
    io.err(formatLost(replicas.filter(({ lost }) => lost)))
    return converged ? exitCodes.done : exitCodes.no
  })
}

function stateOf({ lost, stale, revision }: ReplicaReport, live: string | undefined): string {
  if (lost) return 'lost'
  if (stale) return 'stale'
  return revision === live ? 'current' : 'behind'
}

/** Forgets lost replicas only: one that runs would be back with its next report. */
async function forget(which: string, store: PolicyStore): Promise<number> {
  const replicas = await store.replicas()
  const lost = replicas.filter((each) => each.lost && (which === 'lost' || each.id === which))
  if (lost.length === 0 && which !== 'lost') {
    const isKnown = replicas.some(({ id }) => id === which)
    return decline(
      isKnown
        ? `replica ${which} still reports: stop it first`
        : `replica ${which} does not exist: "postern policy status" shows all replicas`,
    )
  }
  for (const { id } of lost) await store.forgetReplica(id)
  return lost.length
}
