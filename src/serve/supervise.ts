import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { modeFacts } from '../config/mode.ts'
import type { Config } from '../config/schema/schema.ts'
import type { DecisionBatch } from '../fleet/decision-batch.ts'
import type { ReplicaOnHost } from '../fleet/replica-facts.ts'
import { shapeRoutes } from '../gateway/route/shape-routes.ts'
import { readListenOverflows } from '../http/port/listen-overflows.ts'
import { sumUpstreams } from '../http/sum-upstreams.ts'
import { createClosing } from '../kernel/closing.ts'
import { readClientContext } from '../kernel/pem-files.ts'
import { build } from '../kernel/version.ts'
import type { Log } from '../log/log.ts'
import { createAggregateMetrics } from '../metrics/aggregate.ts'
import { addConfigMetrics } from '../metrics/config-metrics.ts'
import { addListenOverflows } from '../metrics/connection-metrics.ts'
import { addLogMetrics } from '../metrics/gateway-metrics.ts'
import { createMetricRegistry, metricsText } from '../metrics/registry.ts'
import { addWorkerMetrics } from '../metrics/worker-metrics.ts'
import { readResponseFile } from '../stores/files/response-file.ts'
import { aggregateReadiness } from '../workers/aggregate-readiness.ts'
import { warnOfDescriptors } from '../workers/descriptors.ts'
import { createRelay } from '../workers/relay.ts'
import { shareOf } from '../workers/share.ts'
import { StartEnded } from '../workers/start-ended.ts'
import { createWatch } from '../workers/watch.ts'
import { createWorkerPool, type WorkerPool } from '../workers/worker-pool.ts'
import { logMode, logOtherTokens } from './log-mode.ts'
import type { ConfigState, RunningPostern } from './options.ts'
import { configurationFacts } from './own-facts.ts'
import { openOps } from './ports/open-ops.ts'
import type { Shutdown } from './shutdown.ts'

export interface SuperviseOptions {
  readonly config: Config
  readonly log: Log
  readonly count: number
  /** Where the lines of all processes go. */
  readonly output: {
    readonly isTerminal: boolean
    /** The system writes each line to a file in one piece, also when several processes write. */
    readonly isFile: boolean
    readonly forward: (lines: string) => void
    /** For the standard error of workers. */
    readonly forwardErrors: (lines: string) => void
  }
  readonly shutdown: Pick<Shutdown, 'begun' | 'abortSignal' | 'exitCode' | 'remainingMs'>
  /** The part of the remaining time that the workers do not get. */
  readonly reservedMs: number
  readonly configuration: () => ConfigState
}

/** What a worker may need beyond its deadline to exit by itself. */
const exitMs = 5000

/**
 * Runs `count` workers as one gateway. This process has the ops port, distributes connections and, where
 * lines could be mixed, writes the log of all workers. It reads no requests. Throws as `serve` does, or
 * `StartEnded` when a worker has already logged why it cannot start.
 */
export async function supervise(options: SuperviseOptions): Promise<Omit<RunningPostern, 'ops'>> {
  const { config, log, count, output, shutdown, reservedMs } = options
  const { begun, abortSignal, exitCode } = shutdown
  const mode = modeFacts(config.application.mode, config.jwt.timeout)
  logMode(mode, log)
  logOtherTokens(config, log)
  const share = shareOf(config, count)
  warnOfDescriptors(share, log)
  // With the other policy, one worker of four got all connections of a load balancer.
  cluster.schedulingPolicy = cluster.SCHED_RR
  // Lines that could be mixed come through this process. Standard error too: with both outputs on one
  // socket, as under systemd, a worker that exits would make our writes to it block.
  const stdio = output.isFile ? 'inherit' : 'pipe'
  cluster.setupPrimary({ args: ['worker'], stdio: ['ignore', stdio, stdio, 'ipc'] })

  const relay = createRelay()
  const aggregate = createAggregateMetrics()
  const pool = createWorkerPool({
    count,
    fork() {
      const worker = cluster.fork()
      // Both are undefined when no descriptors are left for them.
      const { stdout, stderr } = worker.process
      if (stdout) relay.take(stdout, output.forward)
      if (stderr) relay.take(stderr, output.forwardErrors)
      return worker
    },
    start: {
      config: share,
      isTerminal: output.isTerminal,
      ticketKeys: randomBytes(48).toString('base64'),
    },
    metrics: aggregate,
    log,
    shutdownBegun: begun,
    exitCode,
  })
  abortSignal.addEventListener('abort', () => {
    for (const slot of pool.slots) slot.abort()
  })
  const watch = createWatch(pool.slots, aggregate, log)
  const own = createMetricRegistry()
  addWorkerMetrics(own, () => ({
    states: pool.slots.map((slot) => (watch.isSilent(slot) ? 'silent' : slot.state())),
    restarts: pool.restarts(),
    outdated: pool.slots.filter((slot) => slot.configurationError() !== undefined).length,
  }))
  addConfigMetrics(own, options.configuration)
  addLogMetrics(own, log.dropped)
  addListenOverflows(own, readListenOverflows)

  let hasStarted = false
  const closing = createClosing()
  const opsPort = await openOps(
    config,
    {
      version: build,
      mode: mode.name,
      async readiness(verbose) {
        const state = { hasStarted, isClosing: pool.isClosing() }
        const verdict = await aggregateReadiness(pool.slots, state, verbose)
        return verbose ? { ...verdict, configuration: options.configuration() } : verdict
      },
      metrics: {
        contentType: own.contentType,
        async text() {
          await watch.collect()
          return metricsText(aggregate.joined(await own.snapshot()))
        },
      },
      async upstreams() {
        const all = await Promise.all(pool.slots.map((slot) => slot.ask('upstreams')))
        return sumUpstreams(all.filter((one) => one !== undefined))
      },
      async replicas() {
        const all = await Promise.all(pool.slots.map((slot) => slot.ask('replicas')))
        return withConfiguration(
          all.flatMap((one) => one ?? []),
          options.configuration(),
        )
      },
      publicKeys: () => publicKeysOf(pool),
    },
    closing,
  )

  async function takeDecisions(): Promise<readonly DecisionBatch[]> {
    const all = await Promise.all(pool.slots.map((slot) => slot.ask('decisions')))
    return all.filter((batch) => batch !== undefined)
  }

  async function apply(next: Config): Promise<void> {
    await checkFiles(next)
    await pool.configure(shareOf(next, count))
    log.level = next.logger.level
  }

  async function close(): Promise<void> {
    try {
      await pool.close(Math.max(0, shutdown.remainingMs() - reservedMs), exitMs)
    } finally {
      watch.close()
      await closing.close().finally(relay.drained)
    }
  }

  if (abortSignal.aborted) {
    await close()
    throw new StartEnded(exitCode())
  }
  try {
    const { publicPort, forwardAuthPort, revision } = await pool.start()
    hasStarted = true
    return {
      ...{ publicPort, opsPort, forwardAuthPort, revision, firstAccounts: undefined },
      ...{ takeDecisions, apply, close },
    }
  } finally {
    // Lines of a worker that failed must not be lost with this process.
    if (!hasStarted) await relay.drained()
  }
}

/** Throws `Invalid` before any worker has the new configuration. */
async function checkFiles({ routes, upstreams }: Config): Promise<void> {
  const sticky = { key: () => undefined, secure: true }
  await shapeRoutes(routes, { read: readResponseFile, sticky })
  for (const { tls } of Object.values(upstreams)) {
    if (tls !== undefined) await readClientContext(tls)
  }
}

/** Workers do not read the file. */
function withConfiguration(
  replicas: readonly ReplicaOnHost[],
  state: ConfigState,
): readonly ReplicaOnHost[] {
  const configuration = configurationFacts(state)
  return replicas.map((each) => ({ ...each, facts: { ...each.facts, configuration } }))
}

/** All workers have the same keys, so the first answer will do. */
async function publicKeysOf({ slots }: WorkerPool): Promise<readonly object[] | undefined> {
  for (const slot of slots) {
    const keys = await slot.ask('publicKeys')
    if (keys !== undefined) return keys
  }
  return undefined
}
