import type { Socket } from 'node:net'
import type { Upload } from './request-head.ts'
import { WireError } from './wire-error.ts'

interface UploadEvents {
  /** Whether its request still has the connection. */
  readonly isWanted: () => boolean
  /** The socket's buffer is full. */
  readonly onBlocked: () => void
  readonly onSent: () => void
  /** It will never be complete, so the connection cannot be used for anything else. */
  readonly onFailed: (error: Error) => void
}

/**
 * Sends a body after its head. A body that differs from its Content-Length fails: the server would take
 * the missing bytes from the next request on the connection, or read the excess as its beginning.
 */
export function sendUpload(upload: Upload, socket: Socket, events: UploadEvents): void {
  const { length } = upload
  let left = length ?? 0

  upload.start({
    data(chunk) {
      // An empty chunk would end the body.
      if (chunk.length === 0 || !events.isWanted()) return true
      if (length !== undefined) {
        left -= chunk.length
        if (left < 0) {
          events.onFailed(wrongLength())
          return true
        }
      }
      const hasRoom = length === undefined ? writeChunk(socket, chunk) : socket.write(chunk)
      if (!hasRoom) events.onBlocked()
      return hasRoom
    },
    end() {
      if (!events.isWanted()) return
      if (left > 0) events.onFailed(wrongLength())
      else {
        if (length === undefined && !socket.write('0\r\n\r\n', 'latin1')) events.onBlocked()
        events.onSent()
      }
    },
    fail(error) {
      if (events.isWanted()) events.onFailed(error)
    },
  })
}

function writeChunk(socket: Socket, chunk: Buffer): boolean {
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  const hasRoom = socket.write('\r\n', 'latin1')
  socket.uncork()
  return hasRoom
}

export function wrongLength(): WireError {
  const sent = { sent: true, heard: false, reused: false }
  return new WireError('unsendable', 'body length differs from Content-Length', sent)
}
