import type { Socket } from 'node:net'
import { preface } from '../../h2/frames.ts'

interface Readers {
  readonly http1: (socket: Socket) => void
  readonly http2: (socket: Socket) => void
  /** It has sent too little to choose one. */
  readonly timedOut: (socket: Socket) => void
}

/** No method of HTTP/1.1 begins like that (RFC 9113 3.4), so three bytes decide. */
const start = preface.subarray(0, 3)

/**
 * Reads the first bytes of a connection in the clear, and hands it with them to the reader of its
 * protocol. A client of HTTP/2 that knows the server (h2c) begins with the preface.
 */
export function choosePlainProtocol(
  socket: Socket,
  timeoutMs: number,
  { http1, http2, timedOut }: Readers,
): void {
  let first: Buffer = Buffer.alloc(0)
  let isChoosing = true
  // As `checkTimeouts` does: what has arrived is read first.
  const timer = setTimeout(() => setImmediate(timeOut), timeoutMs).unref()

  function timeOut(): void {
    if (!isChoosing) return
    stop()
    socket.on('error', () => socket.destroy())
    timedOut(socket)
  }

  function take(chunk: Buffer): void {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const length = Math.min(first.length, start.length)
    const isLike = start.compare(first, 0, length, 0, length) === 0
    if (isLike && length < start.length) return
    stop()
    socket.pause()
    socket.unshift(first)
    if (isLike) http2(socket)
    else http1(socket)
    socket.resume()
  }
  function leave(): void {
    stop()
    socket.destroy()
  }
  function stop(): void {
    isChoosing = false
    clearTimeout(timer)
    socket.off('data', take).off('end', leave).off('error', leave).off('close', stop)
  }
  socket.on('data', take).on('end', leave).on('error', leave).on('close', stop)
}
