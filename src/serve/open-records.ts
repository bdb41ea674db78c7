import type { Closing } from '../closing.ts'
import type { Config } from '../config/schema/schema.ts'
import { createTrust } from '../gateway/arrival/trusted-peers.ts'
import { openLineFile } from '../log/line-file.ts'
import { createDecisionLines, type WriteDecision } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { findSpans } from '../tracing/spans.ts'
import { createTracing, type Tracing } from '../tracing/tracing.ts'
import { version } from '../version.ts'
import type { ServeOptions } from './options.ts'

/** Trace propagation, with spans where an OpenTelemetry SDK is loaded. */
export function openTracing(
  { tracing, application }: Config,
  closing: Closing,
): Tracing | undefined {
  const spans = findSpans(version)
  if (spans !== undefined) closing.add(spans.flush)
  return createTracing({
    propagate: tracing.propagate,
    isTrusted: tracing.from === 'anyone' ? undefined : createTrust(application.trustedProxies),
    spans,
  })
}

/** The decision log, if enabled: among the other log lines, or in a file of its own. */
export async function openDecisions(
  { config, log }: ServeOptions,
  registry: MetricRegistry,
  closing: Closing,
): Promise<WriteDecision | undefined> {
  const { enabled, file } = config.logger.decisions
  if (!enabled) return undefined
  if (file === undefined) return log.decisions
  const lines = await openLineFile(file, {
    setting: 'logger.decisions.file',
    onTrouble: (reason) => log.error({ reason }, 'decision log write failed'),
  })
  closing.add(lines.close)
  registry.readCounter(
    {
      name: 'postern_decision_log_dropped_total',
      help: 'Decisions not written to logger.decisions.file.',
    },
    () => [{ value: lines.dropped() }],
  )
  return createDecisionLines(lines)
}
