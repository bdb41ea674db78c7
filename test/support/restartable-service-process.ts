/* A service on a port, which closes idle connections and does not announce when. */

import { createServer } from 'node:http'
import type { Socket } from 'node:net'

const [port, timeoutMs = 0, sweepMs = 0] = process.argv.slice(2).map(Number)

/** With what closes each of them in time, if anything does. */
const idle = new Map<Socket, NodeJS.Timeout | undefined>()
const closed = new WeakSet<Socket>()
/** POSTs that were on their way when their connection was closed: only here they can be seen. */
let crossed = 0

const server = createServer((request, reply) => {
  const { socket } = request
  let length = 0
  clearTimeout(idle.get(socket))
  idle.delete(socket)
  reply.on('finish', () => {
    idle.set(socket, timeoutMs > 0 ? setTimeout(close, timeoutMs, socket) : undefined)
  })
  if (request.method === 'POST' && closed.has(socket)) crossed++
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  request.on('end', () => {
    // Said by hand, it keeps Node from announcing its timeout.
    reply.setHeader('Connection', 'keep-alive')
    reply.end(request.url === '/crossed' ? String(crossed) : `${request.method} ${length}`)
  })
})
server.keepAliveTimeout = 0
server.on('connection', (socket) => {
  socket.on('close', () => {
    clearTimeout(idle.get(socket))
    idle.delete(socket)
  })
})
if (sweepMs > 0) {
  setInterval(() => {
    for (const socket of idle.keys()) close(socket)
  }, sweepMs).unref()
}
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

/** Ends its side and goes on reading, to learn of requests that crossed this. */
function close(socket: Socket): void {
  idle.delete(socket)
  closed.add(socket)
  socket.end()
}

// Node's own way destroys them, and nobody would learn what was on its way.
server.closeIdleConnections = () => {
  for (const socket of idle.keys()) close(socket)
}
process.on('SIGTERM', () => server.close())
process.on('exit', () => process.stdout.write(`crossed ${crossed}\n`))
