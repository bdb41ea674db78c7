import { certainOffset, clockWarning } from '../../fleet/clock-offset.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatTable, json, printable } from '../format.ts'
import { type FleetReplica, readFleet } from './read-fleet.ts'
import type { fleetSpec } from './specs.ts'

/** Shows every gateway that is known. */
export const showFleet: Run<typeof fleetSpec> = async ({ options }, io) => {
  const fleet = await readFleet(options, io)
  const { converged, replicas, revision, counts } = fleet
  if (options.output === 'json') io.out(json(fleet))
  else if (replicas.length === 0) io.err('no gateway has reported\n')
  else {
    const now = io.now?.() ?? Date.now()
    io.out(`${counts.current}/${replicas.length} on ${revision ?? 'no policy'}\n`)
    io.out(formatTable([titles, ...replicas.map((each) => toRow(each, now))]))
    for (const { id, lastError } of replicas) {
      if (lastError !== undefined) io.out(`${printable(`${id} last error: ${lastError}`)}\n`)
    }
    for (const { id, state, facts } of replicas) {
      const warned = state === 'lost' ? '' : clockWarning(id, facts?.clock)
      if (warned !== '') io.err(`${printable(warned)}\n`)
    }
  }
  return converged ? exitCodes.done : exitCodes.no
}

const titles = [
  ...[
    'REPLICA',
    'STATE',
    'REVISION',
    'REPORTED',
    'VERSION',
    'UP',
    'CLOCK',
    'CONFIGURATION',
    'SIGNER',
  ],
  ...['CERTIFICATE', 'OUT', 'REQUESTS'],
]

function toRow(replica: FleetReplica, now: number): readonly string[] {
  const { id, state, revision, ageSeconds, version, facts } = replica
  const known = [id, state, revision ?? '-', `${ageSeconds} s ago`, version]
  if (facts === undefined) return [...known, '-', '-', '-', '-', '-', '-', '-']
  const { startedAt, clock, configuration, keys, certificate, upstreams, outcomes } = facts
  const requests = Object.values(outcomes).reduce((sum, each) => sum + each, 0)
  return [
    ...known,
    uptime(now - Date.parse(startedAt)),
    clock === undefined ? '-' : signedSeconds(certainOffset(clock)),
    configuration?.revision ?? '-',
    keys.signer ?? '-',
    certificate === undefined ? '-' : `until ${certificate.notAfter.slice(0, 10)}`,
    `${upstreams.out} of ${upstreams.targets}`,
    String(requests),
  ]
}

/** `3 d 4 h`, `4 h 12 min` or `12 min`. */
function uptime(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

function signedSeconds(ms: number): string {
  return `${ms > 0 ? '+' : ''}${(ms / 1000).toFixed(1)} s`
}
