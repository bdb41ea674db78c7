/* A service on a port, which closes idle connections and does not announce when. */

import { createServer } from 'node:http'

const [port, timeoutMs = 0, sweepMs = 0] = process.argv.slice(2).map(Number)

const server = createServer((request, reply) => {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  request.on('end', () => {
    // Said by hand, it keeps Node from announcing its timeout.
    reply.setHeader('Connection', 'keep-alive')
    reply.end(`${request.method} ${length}`)
  })
})
server.keepAliveTimeout = timeoutMs
// Node adds a second of its own.
server.keepAliveTimeoutBuffer = 0
if (sweepMs > 0) setInterval(() => server.closeIdleConnections(), sweepMs).unref()
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

process.on('SIGTERM', () => {
  server.close()
  server.closeIdleConnections()
})
