import type { ResponseHead } from '../../wire/response-head.ts'
import type { Reply } from '../reply.ts'

/** The answers that are streams of events, which last for as long as somebody listens. */
export interface EventStreams {
  /** To be told of every answer that comes in pieces; counts it until it is closed if it is one. */
  readonly began: (head: ResponseHead, reply: Reply) => void
  readonly count: () => number
}

/** None yet. */
export function createEventStreams(): EventStreams {
  let open = 0
  const closed = () => void open--

  return {
    began({ headers }, reply) {
      const isType = (name: string, at: number) =>
        at % 2 === 0 && name.toLowerCase() === 'content-type'
      if (!headers[headers.findIndex(isType) + 1]?.startsWith('text/event-stream')) return
      open++
      reply.once('close', closed)
    },
    count: () => open,
  }
}
