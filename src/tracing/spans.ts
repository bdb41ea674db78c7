import type { TracedEnd } from './span-attributes.ts'
import type { Trace } from './trace.ts'

/** What is known of a request when its span begins. */
interface BegunRequest {
  readonly method: string
  readonly scheme: 'http' | 'https'
}

/** Begins and ends spans. Spans contain neither tokens nor queries. */
export interface Spans {
  readonly begin: (request: BegunRequest, parent: Trace | undefined) => Trace
  /** `span`: what `begin` returned. */
  readonly beginUpstream: (span: Trace, upstream: string) => Trace
  /** Ends the spans of what `begin` returned, each once. */
  readonly end: (span: Trace, end: TracedEnd) => void
  /** Exports finished spans, for at most `longestFlushMs`, before the process exits. */
  readonly flush: () => Promise<void>
}

export const longestFlushMs = 2000
