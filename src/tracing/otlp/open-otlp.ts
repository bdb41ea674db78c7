import { createOtlpSpans } from './otlp-spans.ts'
import { postSpans } from './post-spans.ts'
import { readResource } from './resource.ts'
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
