// Loaded before the gateway: node --import ./otel.mjs dist/main.js serve
// Shows spans on the terminal. To send them off, take OTLPTraceExporter of
// @opentelemetry/exporter-trace-otlp-http in place of ConsoleSpanExporter.
import { trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

const tracedOfNew = Number(process.env.TRACED ?? 1)

trace.setGlobalTracerProvider(
  new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'postern' }),
    // Traces that others began are sampled if they say so; of our own, this share.
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(tracedOfNew) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() })],
  }),
)
