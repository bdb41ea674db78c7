import type { TargetReport, UpstreamReport } from '../../http/sum-upstreams.ts'
import { Fault } from '../../kernel/errors.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { askOps } from './ask-ops.ts'
import { opsAddress } from './ops-address.ts'
import type { upstreamsSpec } from './specs.ts'

/** Shows the targets of a running gateway. */
export const showUpstreams: Run<typeof upstreamsSpec> = async ({ options }, io) => {
  const { status, body } = await askOps(opsAddress(options, io), '/upstreams')
  if (!isReport(body)) {
    const reason = `the gateway answered ${status} without a list of upstreams: it may be older than this command`
    throw new Fault('gateway', { reason })
  }
  if (options.output === 'json') io.out(json(body))
  else {
    const rows = body.upstreams.flatMap((one) => one.targets.map((each) => toRow(one, each)))
    if (rows.length === 0) io.err('postern: the gateway has no upstreams\n')
    else io.out(formatTable([titles, ...rows]))
  }
  return 0
}

function isReport(body: unknown): body is { readonly upstreams: readonly UpstreamReport[] } {
  return Array.isArray((body as { upstreams?: unknown } | null)?.upstreams)
}

const titles = [
  ...['UPSTREAM', 'TARGET', 'WEIGHT', 'STATE', 'OUTSTANDING', 'CONNECTIONS'],
  ...['EJECTIONS', 'FAILED', 'LAST ERROR'],
]

function toRow({ name }: UpstreamReport, one: TargetReport): readonly string[] {
  const { target, weight, outstanding, connections, ejections, lastError } = one
  const error = lastError === null ? '-' : `${lastError.message} (${lastError.at})`
  const numbers = [outstanding, connections, ejections].map(String)
  return [name, target, String(weight), stateOf(one), ...numbers, failedOf(one), error]
}

/** The share of failed requests in the last interval of `outlier.errorShare`, if that is on. */
function failedOf({ recentRequests, recentFailures }: TargetReport): string {
  if (recentRequests === 0) return '-'
  return `${Math.round((100 * recentFailures) / recentRequests)}% of ${recentRequests}`
}

/** Why it gets no requests, or fewer; the strongest reason first. */
function stateOf(one: TargetReport): string {
  const { weight, circuit, healthy, ejectedMs, sharePercent } = one
  if (weight === 0) return 'weight 0'
  if (circuit !== 'closed') return `circuit ${circuit}`
  if (!healthy) return 'unhealthy'
  if (ejectedMs > 0) return `ejected, ${Math.ceil(ejectedMs / 1000)} s left`
  return sharePercent < 100 ? `warming up, ${sharePercent}%` : 'serving'
}
