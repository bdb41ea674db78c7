import { inflateSync } from 'node:zlib'
import { readJson } from '../../kernel/json.ts'
import { decline } from '../../operations/declined.ts'
import type { Io } from '../io.ts'
import { loginMs, notAConsole } from './api-session.ts'
import type { Gateway } from './gateway.ts'
import { send } from './send.ts'

/** Draws the picture of a captcha on the terminal, and asks what it shows. */
export async function askCaptcha(
  gateway: Gateway,
  io: Io,
): Promise<{ readonly uuid: string; readonly code: string }> {
  for (;;) {
    const { text } = await send(gateway, { method: 'GET', path: 'captcha', timeoutMs: loginMs })
    const { id, data } = (readJson(text) ?? {}) as Partial<Record<string, unknown>>
    const drawing = typeof data === 'string' ? drawn(data) : undefined
    if (typeof id !== 'string' || drawing === undefined) throw notAConsole(gateway)
    io.err(drawing)
    // Ctrl-C must end it, where an empty line asks for another picture.
    const code = await io.prompt?.('Text of the picture (empty: another one): ')
    if (code === undefined) return decline('not logged in')
    if (code.trim() !== '') return { uuid: id, code: code.trim() }
  }
}

const prefix = 'data:image/png;base64,'
const signature = '89504e470d0a1a0a'
/** Ours have 240 by 80 pixels; nothing larger fits a terminal. */
const maxPixels = 512 * 256

/** A PNG as our captchas are, 8-bit gray, in half blocks. `undefined`: another picture. */
export function drawn(data: string): string | undefined {
  if (!data.startsWith(prefix) || data.length > 200_000) return undefined
  const png = Buffer.from(data.slice(prefix.length), 'base64')
  if (png.subarray(0, 8).toString('hex') !== signature || png.length < 57) return undefined
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const isGray = png[24] === 8 && png.readUInt32BE(25) === 0
  if (!isGray || width * height > maxPixels || width * height === 0) return undefined
  const rows = inflated(png, (width + 1) * height)
  if (rows?.length !== (width + 1) * height) return undefined
  const scale = Math.max(1, Math.ceil(width / columns))
  const isInk = (x: number, y: number) => darkness(rows, { width, height, x, y, scale }) > inkShare
  const lines: string[] = []
  for (let y = 0; y < height; y += 2 * scale) {
    let line = ''
    for (let x = 0; x < width; x += scale) {
      line += blocks[(isInk(x, y) ? 1 : 0) + (isInk(x, y + scale) ? 2 : 0)]
    }
    lines.push(`${line.trimEnd()}\n`)
  }
  return lines.join('')
}

const columns = 120
const blocks = [' ', '▀', '▄', '█']
const inkShare = 0.4

function inflated(png: Buffer, length: number): Buffer | undefined {
  try {
    const size = png.readUInt32BE(33)
    return inflateSync(png.subarray(41, 41 + size), { maxOutputLength: length })
  } catch {
    return undefined
  }
}

interface Square {
  readonly width: number
  readonly height: number
  readonly x: number
  readonly y: number
  readonly scale: number
}

/** The share of black in a square of pixels. */
function darkness(rows: Buffer, { width, height, x, y, scale }: Square): number {
  let [black, all] = [0, 0]
  for (let down = y; down < Math.min(y + scale, height); down++) {
    for (let right = x; right < Math.min(x + scale, width); right++) {
      // Each row begins with the number of its filter, which is none.
      black += 255 - (rows[down * (width + 1) + right + 1] ?? 255)
      all += 255
    }
  }
  return all === 0 ? 0 : black / all
}
