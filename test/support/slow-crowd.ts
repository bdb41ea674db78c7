import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { request } from './raw-client.ts'

export interface Crowd {
  readonly port: number
  readonly path: string
  readonly count: number
  /** The address of this machine that they come from. */
  readonly from: string
}

export interface SlowCrowd {
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<string, number>
  readonly stop: () => void
}

/**
 * Clients that upload one byte every 2 s, and begin anew when they are cut off. Every second one sends
 * more at first than a gateway may want to see before it takes a connection.
 */
export async function trickleUploads(crowd: Crowd): Promise<SlowCrowd> {
  const begun = (first: number) =>
    request(`POST ${crowd.path}`, ['Content-Length: 1000000'], 'a'.repeat(first))
  return gather(crowd, [begun(1), begun(70_000)], (socket, answered) => {
    const timer = setInterval(() => socket.write('a'), 2000)
    socket.on('close', () => clearInterval(timer))
    socket.on('data', answered)
  })
}

/** Clients that do not read what they asked for, and begin anew when they are cut off. */
export async function leaveUnread(crowd: Crowd): Promise<SlowCrowd> {
  return gather(crowd, [request(`GET ${crowd.path}`)], (socket) => void socket.pause())
}

async function gather(
  { port, count, from }: Crowd,
  beginnings: readonly string[],
  behave: (socket: Socket, answered: (bytes: Buffer) => void) => void,
): Promise<SlowCrowd> {
  const sockets = new Set<Socket>()
  const statuses = new Map<string, number>()
  let stopped = false
  let turn = 0

  function answered(bytes: Buffer): void {
    const status = bytes.toString('latin1', 9, 12)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  function begin(): Socket {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      if (!stopped) setTimeout(begin, 100)
    })
    socket.write(beginnings[turn++ % beginnings.length] ?? '')
    behave(socket, answered)
    return socket
  }
  function stop(): void {
    stopped = true
    for (const socket of sockets) socket.destroy()
  }

  onTestFinished(stop)
  // Not more at a time than a server has room for in its queue.
  for (let begun = 0; begun < count; begun += 50) {
    const some = Array.from({ length: Math.min(50, count - begun) }, begin)
    await Promise.all(some.map((socket) => once(socket, 'connect')))
  }
  return { statuses, stop }
}

/** A service that reads bodies, says how long they were, and has something large to read. */
export async function startReadingService(largeBytes: number) {
  const large = Buffer.alloc(largeBytes)
  const server = createServer((asked, answer) => {
    let bytes = 0
    asked.on('data', (chunk) => {
      bytes += chunk.length
    })
    asked.on('end', () =>
      answer.end(asked.url?.endsWith('/large') ? large : `${asked.method} ${bytes}`),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `http://127.0.0.1:${port}` }
}
