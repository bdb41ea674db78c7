import { certainOffset } from '../../fleet/clock-offset.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { fleet, status, upstreams, version } from '../../operations/running/descriptions.ts'
import { formatTable, printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const versionView: ViewOf<typeof version> = {
  text: ({ document }) => formatTable(Object.entries(document)),
}

type Status = Exclude<DocumentOf<typeof status>, { readonly live: boolean }>

export const statusView: ViewOf<typeof status> = {
  text: ({ document }) => ('live' in document ? 'live\n' : formatTable(statusRows(document))),
}

function statusRows(status: Status): readonly (readonly string[])[] {
  const { version, mode, ready, problems, policy, configuration, workers } = status
  const why = problems.map(({ name, problem }) => `${name}: ${problem}`).join('; ')
  const rows = [
    ['version', version],
    ['mode', mode],
    ['ready', ready ? 'yes' : `no (${why})`],
    ['policy', policy.revision ?? '-'],
  ]
  if (workers !== undefined) rows.push(['workers', `${workers.listening} of ${workers.count}`])
  for (const { worker, problem } of workers?.outdated ?? []) {
    rows.push(['outdated', `worker ${worker} keeps an older configuration: ${problem}`])
  }
  if (configuration === undefined) return rows
  const { file, revision, since, problem, needRestart } = configuration
  rows.push(['configuration', `${revision} (${file}, since ${since})`])
  if (problem !== undefined) rows.push(['rejected', problem])
  if (needRestart.length > 0) rows.push(['needs restart', needRestart.join(', ')])
  return rows
}

type Replica = DocumentOf<typeof fleet>['replicas'][number]

export const fleetView: ViewOf<typeof fleet, { readonly now: number }> = {
  text({ document: { replicas, revision, counts }, shown, notes = [] }) {
    if (replicas.length === 0) return { out: '', err: 'no gateway has reported\n' }
    const errors = replicas.flatMap(({ id, lastError }) =>
      lastError === undefined ? [] : [`${printable(`${id} last error: ${lastError}`)}\n`],
    )
    const rows = replicas.map((each) => fleetRow(each, shown?.now ?? 0))
    return {
      out: `${counts.current}/${replicas.length} on ${revision ?? 'no policy'}\n${formatTable([fleetTitles, ...rows])}${errors.join('')}`,
      err: notes.map((note) => `${printable(note)}\n`).join(''),
    }
  },
}

const fleetTitles = [
  ...['REPLICA', 'STATE', 'REVISION', 'REPORTED', 'VERSION', 'UP', 'CLOCK', 'CONFIGURATION'],
  ...['SIGNER', 'CERTIFICATE', 'OUT', 'REQUESTS'],
]

function fleetRow(replica: Replica, now: number): readonly string[] {
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

type Upstream = DocumentOf<typeof upstreams>['upstreams'][number]
type Target = Upstream['targets'][number]

export const upstreamsView: ViewOf<typeof upstreams> = {
  text({ document }) {
    const rows = document.upstreams.flatMap((one) =>
      one.targets.map((each) => upstreamRow(one, each)),
    )
    if (rows.length === 0) return { out: '', err: 'postern: the gateway has no upstreams\n' }
    return formatTable([upstreamTitles, ...rows])
  },
}

const upstreamTitles = [
  ...['UPSTREAM', 'TARGET', 'WEIGHT', 'STATE', 'OUTSTANDING', 'CONNECTIONS'],
  ...['EJECTIONS', 'FAILED', 'LAST ERROR'],
]

function upstreamRow({ name }: Upstream, one: Target): readonly string[] {
  const { target, weight, outstanding, connections, ejections, lastError } = one
  const error = lastError === null ? '-' : `${lastError.message} (${lastError.at})`
  const numbers = [outstanding, connections, ejections].map(String)
  return [name, target, String(weight), stateOf(one), ...numbers, failedOf(one), error]
}

/** The share of failed requests in the last interval of `outlier.errorShare`, if that is on. */
function failedOf({ recentRequests, recentFailures }: Target): string {
  if (recentRequests === 0) return '-'
  return `${Math.round((100 * recentFailures) / recentRequests)}% of ${recentRequests}`
}

/** Why it gets no requests, or fewer; the strongest reason first. */
function stateOf(one: Target): string {
  const { weight, circuit, healthy, ejectedMs, sharePercent } = one
  if (weight === 0) return 'weight 0'
  if (circuit !== 'closed') return `circuit ${circuit}`
  if (!healthy) return 'unhealthy'
  if (ejectedMs > 0) return `ejected, ${Math.ceil(ejectedMs / 1000)} s left`
  return sharePercent < 100 ? `warming up, ${sharePercent}%` : 'serving'
}
