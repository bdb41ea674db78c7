import type { ResponseHead } from '../../wire/response-head.ts'
import type { Reply } from '../reply.ts'

/** Counts open `text/event-stream` responses, which last as long as their clients listen. */
export type EventStreams = ReturnType<typeof createEventStreams>

export function createEventStreams() {
  let open = 0
  const closed = () => void open--

  return {
    /** Call it for every streamed response. An event stream counts until it is closed. */
    began({ headers }: ResponseHead, reply: Reply) {
      const isType = (name: string, at: number) =>
        at % 2 === 0 && name.toLowerCase() === 'content-type'
      if (!headers[headers.findIndex(isType) + 1]?.startsWith('text/event-stream')) return
      open++
      reply.once('close', closed)
    },
    count: () => open,
  }
}
