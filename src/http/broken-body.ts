import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../errors.ts'

/**
 * Has the request fail with this: its body will never be whole, although its client is still there
 * to read a response. To destroy the request would close the connection under that response.
 */
export function breakBody(request: IncomingMessage & { failure?: Refusal }, why: Refusal): void {
  request.failure = why
  // Without a listener it would be an uncaught exception; what reads the body later finds `failure`.
  if (request.listenerCount('error') > 0) request.emit('error', why)
}
