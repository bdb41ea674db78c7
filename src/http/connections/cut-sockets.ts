import type { Socket } from 'node:net'

/** A request looks the same whichever side closes; its log line must not blame the client for us. */
const cut = new WeakSet<Socket>()

/** Closes a connection with a request in progress. */
export function cutSocket(socket: Socket): void {
  cut.add(socket)
  socket.destroy()
}

/** Whether `cutSocket` closed it. */
export function wasCut(socket: Socket): boolean {
  return cut.has(socket)
}
