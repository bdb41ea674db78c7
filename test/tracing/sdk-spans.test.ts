import { trace } from '@opentelemetry/api'
import { type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, onTestFinished, test } from 'vitest'
import { findSpans } from '../../src/tracing/find-spans.ts'

/** An SDK whose collector never answers. */
const hanging: SpanProcessor = {
  onStart() {},
  onEnd() {},
  forceFlush: () => new Promise(() => {}),
  async shutdown() {},
}

test('a collector that never answers does not keep the process', async () => {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [hanging] }))
  onTestFinished(() => trace.disable())

  const spans = await findSpans('0.0.0')

  expect(spans).toBeDefined()
  expect(await spans?.flush()).toBe(undefined)
})

test('an SDK that is no longer there makes no spans', async () => {
  expect(await findSpans('0.0.0')).toBe(undefined)
})
