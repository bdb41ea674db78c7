/** Follows the frames of one direction of a WebSocket, to know when one has ended (RFC 6455 5.2). */
interface FrameTrack {
  readonly follow: (chunk: Uint8Array) => void
  /** Whether what comes next would begin a frame: only there may another frame be put in. */
  readonly isBetweenFrames: () => boolean
}

/** Starts between frames. */
export function createFrameTrack(): FrameTrack {
  const header = new Uint8Array(14)
  let have = 0
  let payload = 0

  return {
    follow(chunk) {
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

/** Why a WebSocket is closed: the gateway goes away, or the caller may no longer have it. */
export type CloseCode = 1001 | 1008

/** The frame that says so, as a server sends it. */
export function closeFrame(code: CloseCode): Buffer {
  return Buffer.from([0x88, 2, code >> 8, code & 0xff])
}
