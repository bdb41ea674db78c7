import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { type RestartResult, rollingRestarts } from '../test/support/rolling-restarts.ts'

/*
 * Two gateways under a steady load, restarted in turn by SIGTERM: how many calls failed. The bar is
 * none. Calls that must not be sent twice (POST) are counted apart, for no client may repeat them.
 */
const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '60' },
    rate: { type: 'string', default: '700' },
    workers: { type: 'string', default: '1' },
    grace: { type: 'string', default: '500' },
    idle: { type: 'string', default: '2000' },
  },
})

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0)

function onProgress({ restarts, calls, failed }: RestartResult): void {
  const line = `${restarts} of ${values.restarts} restarts, ${sum(calls)} calls, ${sum(failed)} failed`
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
  else if (restarts % 10 === 0) process.stderr.write(`${line}\n`)
}

const startedAt = performance.now()
const result = await rollingRestarts({
  restarts: Number(values.restarts),
  perSecond: Number(values.rate),
  workers: Number(values.workers),
  shutdown: { graceMs: Number(values.grace), idleMs: Number(values.idle) },
  onProgress,
})
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
const inOrder = result.exitCodes.every((code) => code === 0)
const passed = inOrder && sum(result.failed) === 0
console.log(
  JSON.stringify({
    benchmark: 'restarts',
    cpus: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    workers: Number(values.workers),
    graceMs: Number(values.grace),
    idleMs: Number(values.idle),
    restarts: result.restarts,
    inOrder,
    calls: result.calls,
    failed: result.failed,
    reasons: result.reasons,
    passed,
  }),
)
process.exit(passed ? 0 : 1)
