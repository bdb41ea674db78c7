import type { Socket } from 'node:net'

/** A request under way ends in the same way whichever side closes; its log line must not blame the client. */
const cut = new WeakSet<Socket>()

/** Closes a connection with a request under way. */
export function cutSocket(socket: Socket): void {
  cut.add(socket)
  socket.destroy()
}

/** Whether it was closed so. */
export function wasCut(socket: Socket): boolean {
  return cut.has(socket)
}
