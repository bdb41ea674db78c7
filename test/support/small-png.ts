import { crc32, deflateSync, inflateSync } from 'node:zlib'

/**
 * Writes a picture of a browser again with at most 256 colors, which takes a third of the bytes. The
 * most frequent ones stay exactly as they are.
 */
export function smallPng(file: Buffer): Buffer {
  const chunks = [...chunksIn(file)]
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13)
  const width = header.readUInt32BE(0)
  const size = header[9] === 6 ? 4 : 3
  const data = chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data)
  const rows = unfiltered(inflateSync(Buffer.concat(data)), { width, size })
  const colors = rows.map((row) =>
    Array.from({ length: width }, (_, x) => row.readUIntBE(x * size, 3)),
  )
  const counts = new Map<number, number>()
  for (const color of colors.flat()) counts.set(color, (counts.get(color) ?? 0) + 1)
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).map(([color]) => color)
  const palette = paletteOf(frequent)
  const places = new Map([...counts.keys()].map((color) => [color, nearest(color, palette)]))
  const indexed = colors.map((row) => [0, ...row.map((color) => places.get(color) ?? 0)])
  const head = Buffer.from(header)
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    file.subarray(0, 8),
    chunkOf('IHDR', head),
    chunkOf('PLTE', Buffer.concat(palette.map(threeBytes))),
    chunkOf('IDAT', deflateSync(Buffer.from(indexed.flat()), { level: 9, memLevel: 9 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ])
}

/** Colors that are far enough from one another, so that each color is near one of them. */
function paletteOf(frequent: readonly number[]): readonly number[] {
  for (const least of [0, 12, 27, 48, 75, 108, 147]) {
    const palette: number[] = []
    for (const color of frequent) {
      const isNear = palette.some((other) => distance(color, other) <= least)
      if (!isNear) palette.push(color)
      if (palette.length > 256) break
    }
    if (palette.length <= 256) return palette
  }
  return frequent.slice(0, 256)
}

/** The place of the color in the palette that looks most like this one. */
function nearest(color: number, palette: readonly number[]): number {
  let best = 0
  for (const [at, other] of palette.entries()) {
    if (distance(color, other) < distance(color, palette[best] ?? 0)) best = at
  }
  return best
}

/** Squared, over red, green and blue. */
function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, bits) => {
    const part = ((one >> bits) & 255) - ((other >> bits) & 255)
    return sum + part * part
  }, 0)
}

function* chunksIn(file: Buffer) {
  for (let at = 8; at < file.length; ) {
    const end = at + 8 + file.readUInt32BE(at)
    yield { type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, end) }
    at = end + 4
  }
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([fourBytes(data.length), body, fourBytes(crc32(body))])
}

function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function threeBytes(color: number): Buffer {
  const bytes = Buffer.alloc(3)
  bytes.writeUIntBE(color, 0, 3)
  return bytes
}

interface Shape {
  readonly width: number
  /** Bytes of a pixel. */
  readonly size: number
}

/** Each row adds to the bytes before it and above it, as its filter says. */
function unfiltered(bytes: Buffer, { width, size }: Shape): readonly Buffer[] {
  const length = width * size
  const rows: Buffer[] = []
  for (let at = 0; at < bytes.length; at += length + 1) {
    const row = Buffer.from(bytes.subarray(at + 1, at + 1 + length))
    const above = rows.at(-1) ?? Buffer.alloc(length)
    for (let x = 0; x < length; x++) {
      const [left, up] = [row[x - size] ?? 0, above[x] ?? 0]
      const corner = above[x - size] ?? 0
      row[x] = (row[x] ?? 0) + predicted(bytes[at] ?? 0, left, up, corner)
    }
    rows.push(row)
  }
  return rows
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
