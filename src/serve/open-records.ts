import { createTrust } from '../gateway/arrival/trusted-peers.ts'
import { createUsageCounter } from '../gateway/evidence/usage-counter.ts'
import type { AdmitParts } from '../gateway/pipeline.ts'
import { build } from '../kernel/version.ts'
import { openLineFile } from '../log/line-file.ts'
import { createDecisionLines, type WriteDecision } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Trust } from '../signing/trust.ts'
import type { Database } from '../stores/database/database.ts'
import type { Move } from '../stores/policies/document/policy-keys.ts'
import { HISTORY } from '../stores/policies/document/read-moves.ts'
import { createMoveCopies } from '../stores/policies/moves/move-copies.ts'
import { createMoveTable } from '../stores/policies/moves/move-table.ts'
import type { OpenPolicySource } from '../stores/policies/open-policy-source.ts'
import { createPolicyStore } from '../stores/policies/policy-store.ts'
import type { RedisClient } from '../stores/redis/redis.ts'
import { createDatabaseUsage } from '../stores/usage/database-usage.ts'
import { createRedisUsage } from '../stores/usage/redis-usage.ts'
import { addUsageMetrics, createUsageRecorder } from '../stores/usage/usage-recorder.ts'
import { findSpans } from '../tracing/find-spans.ts'
import type { Spans } from '../tracing/spans.ts'
import { createTracing, type Tracing } from '../tracing/tracing.ts'
import type { Assembly } from './assembly.ts'
import { clock, type ServeOptions } from './options.ts'

/** Trace propagation, with spans where a collector is configured or an OpenTelemetry SDK is loaded. */
export async function openTracing(
  options: ServeOptions,
  assembly: Assembly,
): Promise<Tracing | undefined> {
  const { tracing, application } = options.config
  const spans = (await openSpanExport(options, assembly.registry)) ?? (await findSpans(build))
  let isTrustedProxy = createTrust(application.trustedProxies)
  assembly.add({
    ...(spans !== undefined && { close: spans.flush }),
    apply(next) {
      isTrustedProxy = createTrust(next.application.trustedProxies)
    },
  })
  return createTracing({
    propagate: tracing.propagate,
    isTrusted: tracing.from === 'anyone' ? undefined : (address) => isTrustedProxy(address),
    spans,
  })
}

/** Spans for the collector of `tracing.otlp`. Without it, no code of the exporter is loaded. */
async function openSpanExport(
  { config, log, env = {} }: ServeOptions,
  registry: MetricRegistry,
): Promise<Spans | undefined> {
  const { otlp, samplePercent } = config.tracing
  if (otlp === undefined) return undefined
  const { openOtlp } = await import('../tracing/otlp/open-otlp.ts')
  const { spans, counts } = openOtlp({ otlp, samplePercent, version: build, env, log })
  registry.readCounter({
    name: 'postern_spans_exported_total',
    help: 'Spans that the collector accepted.',
    read: () => counts().exported,
  })
  registry.readCounter({
    name: 'postern_spans_dropped_total',
    help: 'Spans that the collector never accepted.',
    read: () => counts().dropped,
  })
  return spans
}

/** Copies the history of published policies to the database. Returns how to read it there. */
export function openMoveCopies(
  { config, log }: ServeOptions,
  stores: {
    readonly policies: OpenPolicySource
    readonly redis: RedisClient | undefined
    readonly database: Database
    readonly trust: Trust | undefined
  },
  assembly: Assembly,
): (() => Promise<readonly Move[]>) | undefined {
  const { policies, redis, database, trust } = stores
  if (config.policy.source !== 'redis' || redis === undefined) return undefined
  const { history } = createPolicyStore(redis)
  const table = createMoveTable(database, redis.prefix, { trust })
  const copies = createMoveCopies({ history, table, log })
  assembly.add({ close: copies.close })
  let copied: number | undefined
  policies.onAttempt(() => {
    const { sequence } = policies.state()
    if (sequence !== copied) copies.moved()
    copied = sequence
  })
  copies.moved()
  return () => table.list(HISTORY)
}

/** The decision log, if enabled: among the other log lines, or in a file of its own. */
export async function openDecisions(
  { config, log }: ServeOptions,
  assembly: Assembly,
): Promise<WriteDecision | undefined> {
  const { enabled, file } = config.logger.decisions
  if (!enabled) return undefined
  if (file === undefined) return log.decisions
  const lines = await openLineFile(file, {
    setting: 'logger.decisions.file',
    onTrouble: (reason) => log.error({ reason }, 'decision log write failed'),
  })
  assembly.add({
    metrics: (registry) =>
      registry.readCounter({
        name: 'postern_decision_log_dropped_total',
        help: 'Decisions not written to logger.decisions.file.',
        read: () => lines.dropped(),
      }),
    close: lines.close,
  })
  return createDecisionLines(lines)
}

/** What policy usage is counted by; `undefined` unless `policy.usage`. */
export function openUsage(
  { config, log, now = clock }: ServeOptions,
  parts: {
    readonly redis: RedisClient | undefined
    readonly database: Database
    readonly revision: () => string | undefined
  },
  assembly: Assembly,
): Required<Pick<AdmitParts, 'observe' | 'onIdentified'>> | undefined {
  if (!config.policy.usage) return undefined
  const { redis, database, revision } = parts
  const counter = createUsageCounter({
    showPaths: config.logger.decisions.path === 'plain',
    onFull: () => recorder.flush(),
  })
  const recorder = createUsageRecorder({
    store: redis === undefined ? createDatabaseUsage(database) : createRedisUsage(redis),
    take: counter.take,
    revision,
    now: () => Math.round(now() * 1000),
    log,
  })
  assembly.add({
    metrics: (registry) => addUsageMetrics(registry, recorder.state),
    close: recorder.close,
  })
  return counter
}
