import type { Spans } from './spans.ts'

/** Where every 1.x version of the API keeps what an SDK has registered. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** Spans of the loaded SDK, or `undefined` without one: then the API, fifty files, is not loaded either. */
export async function findSpans(version: string): Promise<Spans | undefined> {
  if (!(registered in globalThis)) return undefined
  const { sdkSpans } = await import('./sdk-spans.ts')
  return sdkSpans(version)
}
