import type { Duplex } from 'node:stream'
import { type CloseCode, closeFrame, createFrameTrack } from './websocket-frames.ts'

/** Two connections that became one: after an upgrade, bytes go both ways and nobody reads them. */
export interface Tunnel {
  /** Resolves when both sides are closed. */
  readonly ended: Promise<void>
  /** Ends it; a WebSocket is told why where its frames allow that. */
  readonly close: (why: CloseCode) => void
}

interface TunnelEnds {
  readonly protocol: string
  readonly client: Duplex
  readonly upstream: Duplex
  /** What the client sent behind its request without waiting for the answer. */
  readonly head: Buffer
}

/** Every tunnel that is open. */
export interface Tunnels {
  readonly open: (ends: TunnelEnds) => Tunnel
  /** Closes what is open, and what is opened from then on. */
  readonly closeAll: (why: CloseCode) => void
  readonly count: () => number
}

/** `idleMs`: how long a tunnel may be silent both ways. */
export function createTunnels(idleMs: number): Tunnels {
  const all = new Set<Tunnel>()
  let closing: CloseCode | undefined

  return {
    open(ends) {
      const tunnel = join(ends, idleMs)
      all.add(tunnel)
      void tunnel.ended.then(() => all.delete(tunnel))
      if (closing !== undefined) tunnel.close(closing)
      return tunnel
    },
    closeAll(why) {
      closing = why
      for (const tunnel of all) tunnel.close(why)
    },
    count: () => all.size,
  }
}

/** How long a client may take to close its side once it has been told. */
const farewellMs = 1000

function join({ protocol, client, upstream, head }: TunnelEnds, idleMs: number): Tunnel {
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
  function close(why: CloseCode): void {
    // In the middle of a frame, another one would be read as part of it.
    if (frames?.isBetweenFrames() !== true || client.writableEnded) {
      destroy()
      return
    }
    upstream.unpipe(client)
    client.end(closeFrame(why))
    upstream.destroy()
    clearTimeout(idle)
    idle = setTimeout(destroy, farewellMs)
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
  return { ended, close }
}
