import type { Socket } from 'node:net'

/** How long, and how many bytes, a client may go on sending after its last response. */
export const lingerMs = 2000
export const lingerBytes = 1_048_576

/**
 * Connections that have sent their last response while the client may still be sending. Closing them at
 * once would reset them, and the client could lose the response.
 */
export class Lingering {
  readonly #sockets = new Set<Socket>()

  /** Sends the last bytes, then discards input until the client closes or a limit is reached. */
  end(socket: Socket, text?: string): void {
    let left = lingerBytes
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    this.#sockets.add(socket)
    socket.removeAllListeners('data')
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      left -= bytes.length
      if (left < 0) socket.destroy()
    })
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    })
    if (text === undefined) socket.end()
    else socket.end(text)
    socket.resume()
  }

  has(socket: Socket): boolean {
    return this.#sockets.has(socket)
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
