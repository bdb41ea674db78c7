// Load it before the gateway: node --import ./otel.mjs dist/main.js serve
// Prints spans to the terminal. To export them, replace ConsoleSpanExporter with OTLPTraceExporter
// from @opentelemetry/exporter-trace-otlp-http.
import { trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

const newTraceRatio = Number(process.env.TRACED ?? 1)

trace.setGlobalTracerProvider(
  new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'postern' }),
    // Follows the sampling decision of incoming traces; samples this share of new ones.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(newTraceRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() })],
  }),
)
