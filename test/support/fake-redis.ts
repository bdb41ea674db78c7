import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A server that speaks just enough of the Redis protocol to say what a sick Redis says. */
export interface FakeRedis {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** Answers every command with `reply`, a line of the protocol; INFO is answered well unless told. */
export async function startFakeRedis(
  reply: (name: string, args: readonly string[]) => string | undefined,
): Promise<FakeRedis> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let pending = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      for (;;) {
        const parsed = parseCommand(pending)
        if (parsed === undefined) return
        pending = pending.slice(parsed.length)
        const [name = '', ...args] = parsed.words
        const answer = reply(name.toUpperCase(), args) ?? defaultReply(name.toUpperCase())
        socket.write(`${answer}\r\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function defaultReply(name: string): string {
  return name === 'INFO' ? '$9\r\nloading:0' : '+OK'
}

function parseCommand(text: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return undefined
  const words: string[] = []
  let at = head[0].length
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at))
    if (size === null) return undefined
    const start = at + size[0].length
    const end = start + Number(size[1])
    if (text.length < end + 2) return undefined
    words.push(text.slice(start, end))
    at = end + 2
  }
  return { words, length: at }
}
