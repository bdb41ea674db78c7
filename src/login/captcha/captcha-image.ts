import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { boundsOf, outlineOf } from './glyph-outlines.ts'
import { type Contour, fillContours } from './glyph-raster.ts'
import { encodePng } from './png.ts'

const WIDTH = 240
const HEIGHT = 80
const MARGIN = 10
const LINE_HEIGHT = 64
const GLYPH_SIZE = 56
const SPECKLES = 50
const NOISE_BYTES = 512

type Roll = (low: number, high: number) => number
/** Maps (x, y) to (a x + b y + right, c x + d y + down). */
interface Move {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
  readonly right: number
  readonly down: number
}

/**
 * A PNG of 240 by 80 pixels with one to eight letters or digits; it contains no outlines and no text.
 * All distortion comes from the noise, 512 random bytes by default. The event loop serves requests
 * between the steps, so that a picture does not delay them.
 */
export async function drawCaptcha(
  text: string,
  noise: Buffer = randomBytes(NOISE_BYTES),
): Promise<Buffer> {
  // Without the text: the message may be logged.
  if (!/^[0-9A-Za-z]{1,8}$/.test(text)) throw new RangeError('not 1 to 8 letters or digits')
  const roll = createDice(noise)
  const shapes = [...setLine(text, roll), drawHill(roll), drawRibbon(roll), ...drawSpeckles(roll)]
  await nextTurn()
  warp(shapes, roll)
  await nextTurn()
  const pixels = fillContours(shapes, WIDTH, HEIGHT)
  await nextTurn()
  return encodePng({ width: WIDTH, height: HEIGHT, pixels })
}

function createDice(noise: Buffer): Roll {
  let offset = 0
  return (low, high) => {
    const face = noise.readUInt16LE(offset) / 0x10000
    offset += 2
    return low + face * (high - low)
  }
}

function setLine(text: string, roll: Roll): Contour[] {
  const line: Contour[] = []
  let pen = 0
  for (const character of text) {
    const glyph = move(outlineOf(character), createTwist(roll))
    const { left, right, top, bottom } = boundsOf(glyph)
    const shrink = Math.min(1, LINE_HEIGHT / (bottom - top))
    const room = (LINE_HEIGHT - (bottom - top) * shrink) / 2
    const down = roll(-room, room) - ((top + bottom) / 2) * shrink
    line.push(...move(glyph, scale(shrink, pen - left * shrink, down)))
    // Glyphs overlap or have gaps, which defeats segmentation at gaps or into equal parts.
    pen += (right - left) * shrink + roll(-1.5, 10)
  }
  const length = boundsOf(line).right
  const fit = Math.min(1, (WIDTH - 2 * MARGIN) / length)
  const start = MARGIN + roll(0, WIDTH - 2 * MARGIN - length * fit)
  return move(line, scale(fit, start, HEIGHT / 2))
}

function createTwist(roll: Roll): Move {
  const wide = GLYPH_SIZE * roll(0.85, 1.35)
  const high = GLYPH_SIZE * roll(0.82, 1.05)
  const lean = roll(-0.18, 0.18)
  const angle = roll(-0.22, 0.22)
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  const [a, b] = [wide * cos, high * (lean * cos - sin)]
  const [c, d] = [wide * sin, high * (lean * sin + cos)]
  return { a, b, c, d, right: 0, down: 0 }
}

function scale(by: number, right: number, down: number): Move {
  return { a: by, b: 0, c: 0, d: by, right, down }
}

/** In place: no other picture uses these shapes. */
function warp(shapes: readonly Contour[], roll: Roll): void {
  const lean = createWave(roll, { height: roll(2.5, 5), length: 70 })
  const swell = createWave(roll, { height: roll(3, 6), length: 150 })
  const ripple = createWave(roll, { height: roll(0.8, 1.8), length: 45 })
  for (const shape of shapes) {
    for (let at = 0; at < shape.length; at += 2) {
      const [x, y] = [shape[at] ?? 0, shape[at + 1] ?? 0]
      shape[at] = x + lean(y)
      shape[at + 1] = y + swell(x) + ripple(x)
    }
  }
}

function createWave(roll: Roll, { height, length }: { height: number; length: number }) {
  const phase = roll(0, 2 * Math.PI)
  const turn = (2 * Math.PI) / (length * roll(0.75, 1.3))
  return (at: number) => height * Math.sin(at * turn + phase)
}

/** Inverts ink and paper inside it: people still see the glyph, a template no longer matches. */
function drawHill(roll: Roll): Contour {
  const base = roll(15, HEIGHT - 15)
  const wave = createWave(roll, { height: roll(16, 30), length: 160 })
  const far = roll(0, 1) < 0.5 ? -HEIGHT : 2 * HEIGHT
  const ridge = acrossPicture((x) => base + wave(x))
  return Float64Array.from([...ridge, 2 * WIDTH, far, -WIDTH, far])
}

function drawRibbon(roll: Roll): Contour {
  const base = roll(25, HEIGHT - 25)
  const thick = roll(0.8, 1.2)
  const wave = createWave(roll, { height: roll(8, 20), length: 140 })
  const upper = acrossPicture((x) => base + wave(x) - thick)
  const lower = acrossPicture((x) => base + wave(x) + thick)
  const ribbon = new Float64Array(2 * upper.length)
  ribbon.set(upper)
  for (let at = 0; at < lower.length; at += 2) {
    ribbon.set(lower.subarray(at, at + 2), ribbon.length - 2 - at)
  }
  return ribbon
}

function drawSpeckles(roll: Roll): Contour[] {
  return Array.from({ length: SPECKLES }, () => {
    const [x, y, size] = [roll(0, WIDTH), roll(0, HEIGHT), roll(0.8, 1.8)]
    return Float64Array.of(x - size, y, x, y - size, x + size, y, x, y + size)
  })
}

function acrossPicture(height: (x: number) => number): Contour {
  const points = new Float64Array(2 * (WIDTH / 4 + 9))
  for (let at = 0; at < points.length; at += 2) {
    const x = 2 * at - 16
    points[at] = x
    points[at + 1] = height(x)
  }
  return points
}

function move(contours: readonly Contour[], { a, b, c, d, right, down }: Move): Contour[] {
  return contours.map((contour) => {
    const moved = new Float64Array(contour.length)
    for (let at = 0; at < contour.length; at += 2) {
      const [x, y] = [contour[at] ?? 0, contour[at + 1] ?? 0]
      moved[at] = a * x + b * y + right
      moved[at + 1] = c * x + d * y + down
    }
    return moved
  })
}
