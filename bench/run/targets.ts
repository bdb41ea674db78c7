import type { CellName, Figure, Results } from './results.ts'

/** What is to be reached: a figure, or its ratio to another, at most `limit`. */
export interface Target {
  readonly name: string
  readonly what: string
  readonly figure: Figure
  readonly of: CellName
  /** Without it, the figure itself is limited. */
  readonly to?: CellName
  readonly limit: number
  /** Whether a quick run measures it too. */
  readonly quick?: boolean
}

/** A target and what came of it. `value` and `reached` are absent where it was not measured. */
export interface Verdict extends Pick<Target, 'name' | 'what' | 'limit' | 'quick'> {
  readonly value?: number
  readonly reached?: boolean
}

const get = { peer: 'postern', workload: 'get' }
const ids = { peer: 'postern', workload: 'ids' }
const cpu = { figure: 'cpuMicros' } as const
const haproxy = (rules: number) => ({ peer: `haproxy-${rules}`, workload: 'ids' })

/** Postern has 10,000 rules unless another number is said. */
export const targets: readonly Target[] = [
  {
    ...cpu,
    name: 'bare',
    what: 'CPU per request, GET: Postern / bare node:http + undici, which checks nothing',
    of: get,
    to: { peer: 'bare', workload: 'get' },
    limit: 1.1,
    quick: true,
  },
  {
    ...cpu,
    name: 'fastify-http-proxy',
    what: 'CPU per request, GET: Postern / @fastify/http-proxy, which checks nothing',
    of: get,
    to: { peer: 'fastify-http-proxy', workload: 'get' },
    limit: 0.6,
    quick: true,
  },
  {
    ...cpu,
    name: 'caddy',
    what: 'CPU per request, GET: Postern / Caddy, which checks nothing',
    of: get,
    to: { peer: 'caddy', workload: 'get' },
    limit: 1.05,
    quick: true,
  },
  {
    ...cpu,
    name: 'node-stack',
    what: 'CPU per request, GET: Postern / fastify, http-proxy, jose and casbin with 1,000 rules',
    of: get,
    to: { peer: 'node-stack-1000', workload: 'get' },
    limit: 0.03,
    quick: true,
  },
  {
    ...cpu,
    name: 'haproxy-100',
    what: 'CPU per request, ids vary: Postern / HAProxy doing the same with 100 rules',
    of: ids,
    to: haproxy(100),
    limit: 2,
    quick: true,
  },
  {
    ...cpu,
    name: 'haproxy-1000',
    what: 'CPU per request, ids vary: Postern / HAProxy doing the same with 1,000 rules',
    of: ids,
    to: haproxy(1000),
    limit: 0.65,
    quick: true,
  },
  {
    ...cpu,
    name: 'haproxy-10000',
    what: 'CPU per request, ids vary: Postern / HAProxy doing the same with 10,000 rules',
    of: ids,
    to: haproxy(10_000),
    limit: 0.07,
    quick: true,
  },
  {
    ...cpu,
    name: 'tokens',
    what: 'CPU per request: 1,000 tokens / 1 token',
    of: { peer: 'postern', workload: 'tokens' },
    to: get,
    limit: 1.1,
    quick: true,
  },
  {
    ...cpu,
    name: 'rules',
    what: 'CPU per request, ids vary: 100,000 rules / 10 rules',
    of: { peer: 'postern-100000-rules', workload: 'ids' },
    to: { peer: 'postern-10-rules', workload: 'ids' },
    limit: 1.1,
  },
  {
    ...cpu,
    name: 'workers',
    what: 'CPU per request, GET: 2 workers / 1 worker',
    of: { peer: 'postern-2-workers', workload: 'get' },
    to: get,
    limit: 1.05,
  },
  {
    ...cpu,
    name: 'workers-each',
    what: 'CPU per request, GET, 64 connections for each worker: 2 workers / 1 worker',
    of: { peer: 'postern-2-workers', workload: 'double' },
    to: get,
    limit: 1.05,
  },
  {
    name: 'memory',
    what: 'Resident memory with 1,000 connections, in MB',
    figure: 'residentMb',
    of: { peer: 'postern', workload: 'thousand' },
    limit: 120,
  },
  {
    name: 'logins',
    what: 'p99 of proxied requests: with 20 logins a second / calm',
    figure: 'p99',
    of: { peer: 'postern', workload: 'logins' },
    to: { peer: 'postern', workload: 'logins-calm' },
    limit: 2,
  },
  {
    name: 'reloads',
    what: 'p99 of proxied requests: while 100,000 rules reload / calm',
    figure: 'p99',
    of: { peer: 'postern', workload: 'reloads' },
    to: { peer: 'postern', workload: 'reloads-calm' },
    limit: 1.5,
  },
]

/** What each target came to in this run. */
export function judge(results: Results): readonly Verdict[] {
  return targets.map(({ of, to, figure, ...target }) => {
    const { name, limit } = target
    const value =
      to === undefined
        ? results.median(of, figure)
        : (results.pairedRatio(name) ?? results.ratio(of, to, figure))
    if (value === undefined) return target
    return { ...target, value: Number(value.toPrecision(4)), reached: value <= limit }
  })
}

/** Whether a quick run needs this figure. */
export function isQuick({ peer, workload }: CellName): boolean {
  return targets.some(({ quick, of, to }) =>
    [of, to].some((cell) => quick && cell?.peer === peer && cell.workload === workload),
  )
}
