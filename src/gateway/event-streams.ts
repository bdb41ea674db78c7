import type { ServerResponse } from 'node:http'
import type { UpstreamResponseHeaders } from './relayed-headers.ts'

/** The answers that are streams of events, which last for as long as somebody listens. */
export interface EventStreams {
  /** To be told of every answer that begins; counts it until it is closed if it is one. */
  readonly began: (headers: UpstreamResponseHeaders, reply: ServerResponse) => void
  readonly count: () => number
}

/** None yet. */
export function createEventStreams(): EventStreams {
  let open = 0
  const closed = () => void open--

  return {
    began(headers, reply) {
      const type = headers['content-type']
      if (typeof type !== 'string' || !type.startsWith('text/event-stream')) return
      open++
      reply.once('close', closed)
    },
    count: () => open,
  }
}
