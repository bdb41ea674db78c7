import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What happens to bytes on their way. Without any of these they pass as they are. */
export interface Fault {
  /** Milliseconds that every chunk is late. */
  readonly delayMs?: number
  /** Nothing passes, and nothing is closed: a black hole. */
  readonly hold?: boolean
  /** One byte at a time. */
  readonly slice?: boolean
  /** Turns some byte of every chunk over. */
  readonly corrupt?: boolean
  /** Connections are reset at this many answers. */
  readonly resetEvery?: number
}

/** A way to a server on which things go wrong as told. Faults hit answers; `hold` also requests. */
export interface FaultProxy {
  readonly port: number
  /** In force at once, for open connections too. */
  inject(fault: Fault): void
  /** Sends new connections elsewhere. */
  retarget(port: number): void
  /** Ends every open connection: with a reset, or by closing only our side. */
  cut(how: 'reset' | 'half-close'): void
  /** No longer accepts, and resets what is open; `listen` ends that. */
  refuse(): Promise<void>
  listen(): Promise<void>
  close(): Promise<void>
}

export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket }>()
  let port = 0
  let goal = target
  let fault: Fault = {}
  let answers = 0

  async function relay(from: Socket, to: Socket, isAnswer: boolean): Promise<void> {
    for await (const chunk of from) {
      while (fault.hold && !to.destroyed) await pause(20)
      if (isAnswer) {
        if (fault.delayMs !== undefined) await pause(fault.delayMs)
        answers++
        if (fault.resetEvery !== undefined && answers % fault.resetEvery === 0) {
          to.resetAndDestroy()
          return
        }
      }
      await send(to, isAnswer ? changed(chunk) : chunk, isAnswer && fault.slice === true)
    }
    to.end()
  }

  function changed(chunk: Buffer): Buffer {
    if (!fault.corrupt) return chunk
    const copy = Buffer.from(chunk)
    const at = Math.floor(copy.length / 2)
    copy[at] = (copy[at] ?? 0) ^ 0x20
    return copy
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: goal, host: '127.0.0.1', allowHalfOpen: true })
    const pair = { near, far }
    pairs.add(pair)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
    }
    relay(near, far, false).catch(() => {})
    relay(far, near, true).catch(() => {})
  })

  async function listen(): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }

  function cut(how: 'reset' | 'half-close'): void {
    for (const { near, far } of pairs) {
      if (how === 'half-close') near.end()
      else {
        near.resetAndDestroy()
        far.destroy()
      }
    }
  }

  async function refuse(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    cut('reset')
    await closed
  }

  await listen()
  return {
    port,
    inject(next) {
      fault = next
    },
    retarget(next) {
      goal = next
    },
    cut,
    refuse,
    listen,
    close: refuse,
  }
}

async function send(to: Socket, chunk: Buffer, slice: boolean): Promise<void> {
  const pieces = slice ? Array.from(chunk, (byte) => Buffer.of(byte)) : [chunk]
  for (const piece of pieces) {
    if (!to.write(piece)) await once(to, 'drain')
  }
}
