import { crc32, inflateSync } from 'node:zlib'

/** What a PNG file holds: the names of its chunks, its size, and its pixels (0 is black). */
export interface PngContents {
  readonly chunks: readonly string[]
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** Reads an 8-bit grey PNG with unfiltered rows; throws on anything else and on a wrong checksum. */
export function readPng(file: Buffer): PngContents {
  if (file.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('no PNG signature')
  const chunks = readChunks(file.subarray(8))
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13)
  if (header.toString('hex', 8) !== '0800000000') throw new Error('not plain 8-bit grey')

  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  const data = chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data)
  const rows = inflateSync(Buffer.concat(data))
  if (rows.length !== (width + 1) * height) throw new Error('pixels do not fill the picture')

  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const row = rows.subarray(y * (width + 1), (y + 1) * (width + 1))
    if (row[0] !== 0) throw new Error('a filtered row')
    pixels.set(row.subarray(1), y * width)
  }
  return { chunks: chunks.map(({ type }) => type), width, height, pixels }
}

function readChunks(bytes: Buffer): { readonly type: string; readonly data: Buffer }[] {
  if (bytes.length === 0) return []
  const end = bytes.readUInt32BE(0) + 8
  if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(4, end))) throw new Error('wrong checksum')
  const chunk = { type: bytes.toString('latin1', 4, 8), data: bytes.subarray(8, end) }
  return [chunk, ...readChunks(bytes.subarray(end + 4))]
}
