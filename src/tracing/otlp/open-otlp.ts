import { randomUUID } from 'node:crypto'
import { createOtlpSpans } from './otlp-spans.ts'
import { postSpans } from './post-spans.ts'
import { toFrame } from './span-json.ts'
import { SpanQueue } from './span-queue.ts'

interface OtlpOptions {
  readonly otlp: string
  readonly samplePercent: number
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: {
    readonly info: (fields: object, message: string) => void
    readonly warn: (fields: object, message: string) => void
  }
}

/** Spans that a collector receives by OTLP/HTTP, as JSON. */
export function openOtlp({ otlp, samplePercent, version, env, log }: OtlpOptions) {
  const url = tracesUrl(otlp)
  const resource = readResource({
    version,
    env,
    onInvalid: (problem) => log.warn({ problem }, 'OTEL_RESOURCE_ATTRIBUTES ignored'),
  })
  const [before, after] = toFrame({ resource, version })
  const queue = new SpanQueue({
    post: (spans, signal) => postSpans(url, `${before}${spans.join(',')}${after}`, signal),
    log,
  })
  const spans = createOtlpSpans({
    samplePercent,
    add: (make) => queue.add(make),
    flush: () => queue.close(),
  })
  return { spans, counts: () => queue.counts() }
}

/** Collectors listen on /v1/traces; a URL with another path is used as it is. */
export function tracesUrl(otlp: string): URL {
  const url = new URL(otlp)
  return url.pathname === '/' ? new URL('/v1/traces', url) : url
}

interface ResourceOptions {
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with what is wrong with OTEL_RESOURCE_ATTRIBUTES. */
  readonly onInvalid: (problem: string) => void
}

/**
 * What tells the spans of this process from others. The two variables are those that Kubernetes
 * operators and other deployment tools set for every service.
 */
export function readResource({
  version,
  env,
  onInvalid,
}: ResourceOptions): Readonly<Record<string, string>> {
  const name = env['OTEL_SERVICE_NAME']
  return {
    'service.name': 'postern',
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...readAttributes(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '', onInvalid),
    ...(name && { 'service.name': name }),
  }
}

/** Ignores the whole text if a part of it is malformed, as the specification of OpenTelemetry says. */
function readAttributes(
  text: string,
  onInvalid: (problem: string) => void,
): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  try {
    return Object.fromEntries(pairs.map(readPair))
  } catch {
    onInvalid('expected key=value pairs, separated by commas and percent-encoded')
    return {}
  }
}

function readPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  const [key, value] = [pair.slice(0, at), pair.slice(at + 1)].map((part) =>
    decodeURIComponent(part.trim()),
  )
  if (at < 1 || !key || value === undefined) throw new Error('not a key=value pair')
  return [key, value]
}
