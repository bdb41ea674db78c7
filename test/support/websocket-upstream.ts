import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Script } from './recording-upstream.ts'

/** What an upstream does that speaks WebSocket: agrees, and sends every short text back. */
export function echoing(onOpen: (socket: Socket) => void = () => {}): Script {
  return (socket, { values }) => {
    const accept = createHash('sha1')
      .update(`${values('sec-websocket-key')[0]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.removeAllListeners('data')
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\nX-User-Id: leaked\r\n\r\n`,
    )
    onOpen(socket)
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      for (let frame = takeFrame(pending); frame !== undefined; frame = takeFrame(pending)) {
        pending = pending.subarray(frame.length)
        if (frame.opcode === 8) socket.end(Buffer.concat([Buffer.from([0x88, 2]), frame.payload]))
        else socket.write(textFrame(frame.payload.toString()))
      }
    })
  }
}

/** A text as a server sends it. */
export function textFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, Buffer.byteLength(text)]), Buffer.from(text)])
}

/** A short frame of a client, taken off its mask. */
function takeFrame(bytes: Buffer) {
  const length = (bytes[1] ?? 0) & 0x7f
  if (bytes.length < 6 + length) return undefined
  const mask = bytes.subarray(2, 6)
  const payload = bytes.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(payload), length: 6 + length }
}
