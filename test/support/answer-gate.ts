import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on which the answers of some connections wait. */
export interface AnswerGate {
  readonly port: number
  /** How many connections are open. */
  readonly open: () => number
  /** How many of these wait for an answer that the server has given. */
  readonly held: () => number
  /** Holds the answers of connections opened from now on. */
  readonly hold: () => void
  /** Lets those opened from now on pass. */
  readonly pass: () => void
  /** Delivers what was held. */
  readonly release: () => void
  readonly close: () => Promise<void>
}

export async function startAnswerGate(target: number): Promise<AnswerGate> {
  const open = new Set<Socket>()
  const waiting = new Set<Socket>()
  let isHolding = false
  const { promise: released, resolve: release } = Promise.withResolvers<void>()

  async function answer(near: Socket, far: Socket, isHeld: boolean): Promise<void> {
    for await (const chunk of far) {
      if (isHeld) {
        waiting.add(near)
        await released
        waiting.delete(near)
      }
      near.write(chunk)
    }
    near.end()
  }

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const isHeld = isHolding
    open.add(near)
    near.on('error', () => far.destroy())
    near.on('close', () => {
      open.delete(near)
      waiting.delete(near)
      far.destroy()
    })
    near.pipe(far)
    answer(near, far, isHeld).catch(() => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    open: () => open.size,
    held: () => waiting.size,
    hold() {
      isHolding = true
    },
    pass() {
      isHolding = false
    },
    release,
    async close() {
      release()
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}
