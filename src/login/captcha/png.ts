import { promisify } from 'node:util'
import { constants, crc32, deflate } from 'node:zlib'

/** On another thread. */
const pack = promisify(deflate)

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** 8-bit grayscale, row by row, 0 is black. */
interface GreyPicture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/**
 * A PNG of header, pixels and end. Other chunks could carry information besides the pixels. Rows are
 * unfiltered and run-length encoded, which suits flat ink and paper: a search for longer repetitions
 * takes four times as long and finds none.
 */
export async function encodePng({ width, height, pixels }: GreyPicture): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // RFC 2083 4.1.1: bit depth 8, color type 0 (gray); compression, filter, interlace 0.
  header[8] = 8

  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }

  const packed = await pack(rows, { strategy: constants.Z_RLE })
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: 'IHDR' | 'IDAT' | 'IEND', data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 12)
  framed.writeUInt32BE(data.length, 0)
  framed.write(type, 4, 'latin1')
  data.copy(framed, 8)
  framed.writeUInt32BE(crc32(framed.subarray(4, data.length + 8)), data.length + 8)
  return framed
}
