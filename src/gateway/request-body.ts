import { Refusal } from '../errors.ts'
import type { Upload, UploadSink } from '../wire/request-head.ts'
import type { Body } from './stages.ts'

/**
 * The client's body on its way to an upstream, with backpressure and a limit. What the upstream no
 * longer wants is read and thrown away, so that the client can finish sending and find our answer.
 * Without a length it goes out in chunks. `invite` is called when there is somebody to read it.
 */
export function requestBody(
  request: Body,
  maxBytes: number,
  { length, invite }: { readonly length: number | undefined; readonly invite?: () => void },
): Upload {
  let received = 0
  let sink: UploadSink | undefined

  function take(chunk: Buffer): void {
    received += chunk.length
    if (received > maxBytes) fail(new Refusal('body-too-large'))
    else if (sink?.data(chunk) === false) request.pause()
  }
  function finish(): void {
    sink?.end()
  }
  // A client that leaves in the middle must not look like one that finished.
  function cut(): void {
    if (!request.complete) fail(new Error('the client ended its body early'))
  }
  function fail(error: Error): void {
    const told = sink
    stop()
    told?.fail(error)
  }
  function stop(): void {
    if (sink !== undefined) {
      sink = undefined
      request.off('data', take)
      request.off('end', finish)
      request.off('close', cut)
      request.off('error', cut)
      // Without a listener it would end the process.
      request.on('error', () => {})
    }
    request.resume()
  }

  return {
    length,
    start(to) {
      sink = to
      request.on('data', take)
      request.on('end', finish)
      request.on('close', cut)
      request.on('error', cut)
      // The client may have left while its token was being checked.
      if (request.destroyed) cut()
      else invite?.()
    },
    resume: () => void request.resume(),
    stop,
  }
}
