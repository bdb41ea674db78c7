import { certainOffset } from '../../fleet/clock-offset.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { fleet } from '../../operations/running/descriptions.ts'
import { formatTable, printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

type Replica = DocumentOf<typeof fleet>['replicas'][number]

export const fleetView: ViewOf<typeof fleet, { readonly now: number }> = {
  text({ document: { replicas, revision, counts }, shown, notes = [] }) {
    if (replicas.length === 0) return { out: '', err: 'no gateway has reported\n' }
    const errors = replicas.flatMap(({ id, lastError }) =>
      lastError === undefined ? [] : [`${printable(`${id} last error: ${lastError}`)}\n`],
    )
    const rows = replicas.map((each) => toRow(each, shown?.now ?? 0))
    return {
      out: `${counts.current}/${replicas.length} on ${revision ?? 'no policy'}\n${formatTable([titles, ...rows])}${errors.join('')}`,
      err: notes.map((note) => `${printable(note)}\n`).join(''),
    }
  },
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

function toRow(replica: Replica, now: number): readonly string[] {
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
