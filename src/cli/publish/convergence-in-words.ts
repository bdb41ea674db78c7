import type { Convergence } from '../../operations/publish/convergence.ts'
import { count, printable } from '../format.ts'

/** One line for each replica that is behind or lost, and what to do about the lost ones. */
export function formatBehind(convergence: Convergence): string {
  const { replicas, behind, lost } = convergence
  if (replicas.length === 0) return noReplicas + formatUnexpected(convergence)
  const lines = behind.map(({ id, revision, stale, ageSeconds, lastError }) => {
    const what = `${id} uses ${revision ?? 'no policy'}${stale ? ', cannot confirm it' : ''}`
    const why = lastError === undefined ? '' : `: ${lastError}`
    return `  ${printable(what)} (reported ${ageSeconds} s ago)${printable(why)}\n`
  })
  return lines.join('') + formatLost(lost) + formatUnexpected(convergence)
}

/** What a wrong number of replicas means; empty when it is the expected one, or any will do. */
function formatUnexpected({ replicas, lost, expected }: Convergence): string {
  const found = replicas.length - lost.length
  if (expected === undefined || found === expected) return ''
  const advice =
    found < expected
      ? 'check redis.url and redis.prefix of the missing gateways'
      : '"postern policy status" shows all of them'
  const reporting = found === 1 ? '1 reports' : `${found} report`
  return `expected ${count(expected, 'replica')}, but ${reporting}: ${advice}\n`
}

/** One line for each lost replica, and what to do about them; empty without any. */
export function formatLost(lost: Convergence['lost']): string {
  if (lost.length === 0) return ''
  const lines = lost.map(({ id, revision, ageSeconds }) => {
    const what = `${id} is lost: last report ${Math.round(ageSeconds)} s ago; if it still runs, it uses ${revision ?? 'no policy'}`
    return `  ${printable(what)}\n`
  })
  return `${lines.join('')}${lostAdvice}`
}

const lostAdvice =
  'reconnect each lost replica to Redis, or stop it; if it no longer runs, run "postern policy status --forget ID" (or --forget lost for all)\n'

/** What `0/0` means. */
export const noReplicas =
  'no replicas have reported to this Redis: start a gateway, or check redis.url and redis.prefix\n'
