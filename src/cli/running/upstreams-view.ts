import type { DocumentOf } from '../../operations/operation.ts'
import type { upstreams } from '../../operations/running/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

type Upstream = DocumentOf<typeof upstreams>['upstreams'][number]
type Target = Upstream['targets'][number]

export const upstreamsView: ViewOf<typeof upstreams> = {
  text({ document }) {
    const rows = document.upstreams.flatMap((one) => one.targets.map((each) => toRow(one, each)))
    if (rows.length === 0) return { out: '', err: 'postern: the gateway has no upstreams\n' }
    return formatTable([titles, ...rows])
  },
}

const titles = [
  ...['UPSTREAM', 'TARGET', 'WEIGHT', 'STATE', 'OUTSTANDING', 'CONNECTIONS'],
  ...['EJECTIONS', 'FAILED', 'LAST ERROR'],
]

function toRow({ name }: Upstream, one: Target): readonly string[] {
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
