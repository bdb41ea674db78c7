import type { Duplex } from 'node:stream'
import { type CloseCode, closeFrame, createFrameTrack } from './websocket-frames.ts'

/** Two connections joined after an upgrade: bytes go both ways, unparsed. */
export type Tunnel = ReturnType<typeof join>

interface TunnelEnds {
  readonly protocol: string
  readonly client: Duplex
  readonly upstream: Duplex
  /** What the client sent behind its request without waiting for the response. */
  readonly head: Buffer
}

/** All open tunnels. */
export type Tunnels = ReturnType<typeof createTunnels>

/** `idleMs`: how long a tunnel may be idle in both directions. */
export function createTunnels(idleMs: number) {
  const all = new Set<Tunnel>()
  let closing: CloseCode | undefined

  return {
    open(ends: TunnelEnds) {
      const tunnel = join(ends, idleMs)
      all.add(tunnel)
      void tunnel.ended.then(() => all.delete(tunnel))
      if (closing !== undefined) tunnel.close(closing)
      return tunnel
    },
    /** Closes all open tunnels, and every later one at once. */
    closeAll(why: CloseCode) {
      closing = why
      for (const tunnel of all) tunnel.close(why)
    },
    count: () => all.size,
  }
}

/** How long a client may take to close its side after a close frame. */
const closeTimeoutMs = 1000

function join({ protocol, client, upstream, head }: TunnelEnds, idleMs: number) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const frames = protocol === 'websocket' ? createFrameTrack() : undefined
  const sides = [client, upstream]
  let open = sides.length
  let idle = setTimeout(destroy, idleMs)

  function destroy(): void {
    clearTimeout(idle)
    client.destroy()
    upstream.destroy()
  }
  /** Ends it. A WebSocket client gets a close frame, unless a frame is incomplete. */
  function close(why: CloseCode): void {
    // Inside a frame, the close frame would be read as part of it.
    if (frames?.isBetweenFrames() !== true || client.writableEnded) {
      destroy()
      return
    }
    upstream.unpipe(client)
    client.end(closeFrame(why))
    upstream.destroy()
    clearTimeout(idle)
    idle = setTimeout(destroy, closeTimeoutMs)
  }

  for (const side of sides) {
    side.on('error', destroy)
    side.on('data', () => idle.refresh())
    side.on('close', () => {
      open--
      if (side === client || !client.writableEnded) destroy()
      if (open === 0) resolve()
    })
  }
  if (frames !== undefined) upstream.on('data', frames.follow)
  if (head.length > 0) upstream.write(head)
  client.pipe(upstream)
  upstream.pipe(client)
  return {
    /** Resolves when both sides are closed. */
    ended,
    close,
  }
}
