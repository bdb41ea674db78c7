import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface ExportedSpan {
  readonly name: string
  readonly kind: 'SERVER' | 'CLIENT'
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string
  readonly status: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** The process that sent it off. */
  readonly pid: number
}

export interface TracingSdk {
  /** What is to be loaded before the gateway. */
  readonly module: string
  /** Every span that was sent off so far, by whichever process. */
  readonly exported: () => Promise<readonly ExportedSpan[]>
}

/**
 * What an operator loads: the real SDK, with an exporter that appends to a file. By itself it sends
 * nothing off in the time of a test: what the gateway does not flush is lost.
 */
export async function writeTracingSdk(directory: string): Promise<TracingSdk> {
  const module = join(directory, 'otel.mjs')
  const file = join(directory, 'spans.jsonl')
  await writeFile(module, bootstrap(file))
  await writeFile(file, '')
  return {
    module,
    async exported() {
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
      return lines.map((line): ExportedSpan => JSON.parse(line))
    },
  }
}

function bootstrap(file: string): string {
  const sdk = pathToFileURL(resolve('node_modules/@opentelemetry/sdk-trace/dist/index.mjs'))
  const api = pathToFileURL(resolve('node_modules/@opentelemetry/api/dist/index.mjs'))
  return `
    import { appendFileSync } from 'node:fs'
    import { trace } from '${api}'
    import { BatchSpanProcessor, TracerProvider } from '${sdk}'
    const exporter = {
      export(spans, done) {
        for (const span of spans) {
          const { name, kind, parentSpanContext, status, attributes } = span
          const { traceId, spanId } = span.spanContext()
          appendFileSync(${JSON.stringify(file)}, JSON.stringify({
            name, kind: ['INTERNAL', 'SERVER', 'CLIENT'][kind], traceId, spanId,
            parentId: parentSpanContext?.spanId, status: status.code, attributes, pid: process.pid,
          }) + '\\n')
        }
        done({ code: 0 })
      },
      async shutdown() {},
      async forceFlush() {},
    }
    const processor = new BatchSpanProcessor({ exporter, scheduledDelayMillis: 600_000 })
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }))
  `
}
