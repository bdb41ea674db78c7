/** Tracks where frames end in one direction of a WebSocket (RFC 6455 5.2). */
export function createFrameTrack() {
  const header = new Uint8Array(14)
  let have = 0
  let payload = 0

  return {
    follow(chunk: Uint8Array) {
      let at = 0
      while (at < chunk.length) {
        if (payload > 0) {
          const step = Math.min(payload, chunk.length - at)
          payload -= step
          at += step
          continue
        }
        header[have++] = chunk[at++] as number
        if (have < 2 || have < headerLength(header)) continue
        payload = payloadLength(header)
        have = 0
      }
    },
    /** Whether the next byte begins a frame: only there may we insert one. */
    isBetweenFrames: () => have === 0 && payload === 0,
  }
}

function headerLength(header: Uint8Array): number {
  const [, second = 0] = header
  const length = second & 0x7f
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0)
}

function payloadLength(header: Uint8Array): number {
  const view = new DataView(header.buffer)
  const length = (header[1] ?? 0) & 0x7f
  if (length < 126) return length
  return length === 126 ? view.getUint16(2) : Number(view.getBigUint64(2))
}

/** 1001: the gateway shuts down. 1008: the caller is no longer allowed. */
export type CloseCode = 1001 | 1008

/** Unmasked, as a server sends it. */
export function closeFrame(code: CloseCode): Buffer {
  return Buffer.from([0x88, 2, code >> 8, code & 0xff])
}
