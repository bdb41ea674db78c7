import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { takeHead, valuesOf } from './http-text.ts'

/** What a service ran: the request line, who it says calls, and on which connection it came. */
export interface Ran {
  readonly line: string
  readonly userId: string | undefined
  readonly connection: number
}

export interface CarelessService {
  readonly origin: string
  readonly ran: Ran[]
}

/**
 * A service that reads no body: what follows a head is its next request. It answers each with 200, and
 * reads on unless it heeds `Connection: close` and was asked for that.
 */
export async function startCarelessService(heedsClose: boolean): Promise<CarelessService> {
  const ran: Ran[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    const connection = ++connections
    let pending = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      for (let head = takeHead(pending); head !== undefined; head = takeHead(pending)) {
        pending = pending.slice(head.length)
        ran.push({ line: head.line, userId: valuesOf(head.fields, 'X-User-Id')[0], connection })
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        if (heedsClose && valuesOf(head.fields, 'Connection')[0] === 'close') {
          pending = ''
          socket.removeAllListeners('data')
          socket.end()
          socket.resume()
        }
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ran }
}
