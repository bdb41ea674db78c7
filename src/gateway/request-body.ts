import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'

/**
 * The client's body as a stream of its own, with backpressure and a limit. undici destroys the
 * body it is given when an upstream fails; given the request itself, it would cut the client's
 * connection and with it our answer. `invite` is called once, when there is somebody to read it.
 */
export function requestBody(
  request: IncomingMessage,
  maxBytes: number,
  invite?: () => void,
): Readable {
  let received = 0
  let invited = invite === undefined
  const body = new Readable({
    read() {
      if (!invited) invite?.()
      invited = true
      request.resume()
    },
    destroy(error, done) {
      request.off('data', take)
      request.off('end', finish)
      request.off('close', cut)
      // What the upstream no longer wants is read and thrown away, so that the client can finish
      // sending and find our answer.
      request.resume()
      done(error)
    },
  })

  function take(chunk: Buffer): void {
    received += chunk.length
    if (received > maxBytes) body.destroy(new Refusal('body-too-large'))
    else if (!body.push(chunk)) request.pause()
  }
  function finish(): void {
    body.push(null)
  }
  // A client that leaves in the middle must not look like one that finished.
  function cut(): void {
    if (!request.complete) body.destroy(new Error('the client ended its body early'))
  }

  // undici stops listening once an exchange is over; an error after that must not end the process.
  body.on('error', () => {})
  request.on('data', take)
  request.on('end', finish)
  request.on('close', cut)
  request.on('error', cut)
  // The client may have left while its token was being checked.
  if (request.destroyed) cut()
  return body
}
