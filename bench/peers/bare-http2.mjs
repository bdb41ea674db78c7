// The floor for HTTP/2 on Node: node:http2 in front, with its core stream API, undici's dispatch behind.
// Checks nothing.

import { createServer } from 'node:http2'
import { Pool } from 'undici'

const upstream = new Pool(process.env.UPSTREAM, { connections: 1024, pipelining: 1 })
const server = createServer({ settings: { maxConcurrentStreams: 100 } })

server.on('stream', (stream, headers) => {
  const { ':method': method, ':path': path } = headers
  stream.on('error', () => {})
  upstream.dispatch(
    { method, path, headers: passedOn(headers), body: stream.endAfterHeaders ? null : stream },
    {
      onRequestStart(controller) {
        stream.on('aborted', () => controller.abort(new Error('the client is gone')))
      },
      onResponseStart(controller, status, answered) {
        stream.on('drain', () => controller.resume())
        if (!stream.destroyed) stream.respond({ ':status': status, ...withoutHops(answered) })
      },
      onResponseData(controller, chunk) {
        if (!stream.write(chunk)) controller.pause()
      },
      onResponseEnd() {
        stream.end()
      },
      onResponseError() {
        stream.close(2)
      },
    },
  )
})
server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4096 })

function passedOn(headers) {
  const kept = {}
  for (const name in headers) if (!name.startsWith(':')) kept[name] = headers[name]
  kept.host = headers[':authority']
  return kept
}

/** Hop-by-hop headers are for the next hop only (RFC 9110, 7.6.1). */
function withoutHops(headers) {
  const kept = {}
  for (const name in headers) {
    if (name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding') continue
    kept[name] = headers[name]
  }
  return kept
}
