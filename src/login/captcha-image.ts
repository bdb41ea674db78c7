import { randomBytes } from 'node:crypto'
import { boundsOf, outlineOf } from './glyph-outlines.ts'
import { type Contour, fillContours, type Point } from './glyph-raster.ts'
import { encodePng } from './png.ts'

const WIDTH = 240
const HEIGHT = 80
const MARGIN = 10
const LINE_HEIGHT = 64
const GLYPH_SIZE = 56
const SPECKLES = 50
const NOISE_BYTES = 512

type Roll = (low: number, high: number) => number
type Move = (point: Point) => Point

/**
 * A PNG of 240 by 80 that shows one to eight letters or digits to a person, and carries no outline
 * and no text for a program. Every distortion comes from the noise, 512 fresh bytes by default.
 * Any other text is refused.
 */
export function drawCaptcha(text: string, noise: Buffer = randomBytes(NOISE_BYTES)): Buffer {
  // The message leaves the text out: it would travel to a log.
  if (!/^[0-9A-Za-z]{1,8}$/.test(text)) throw new RangeError('not 1 to 8 letters or digits')
  const roll = createDice(noise)
  const shapes = [...setLine(text, roll), drawHill(roll), drawRibbon(roll), ...drawSpeckles(roll)]
  const pixels = fillContours(move(shapes, createWarp(roll)), WIDTH, HEIGHT)
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
    const start = pen
    line.push(
      ...move(glyph, ({ x, y }) => ({ x: start + (x - left) * shrink, y: y * shrink + down })),
    )
    // Neighbours overlap or stand apart, so that cutting at gaps or into equal parts goes wrong.
    pen += (right - left) * shrink + roll(-1.5, 10)
  }
  const length = boundsOf(line).right
  const scale = Math.min(1, (WIDTH - 2 * MARGIN) / length)
  const start = MARGIN + roll(0, WIDTH - 2 * MARGIN - length * scale)
  return move(line, ({ x, y }) => ({ x: start + x * scale, y: HEIGHT / 2 + y * scale }))
}

function createTwist(roll: Roll): Move {
  const wide = GLYPH_SIZE * roll(0.85, 1.35)
  const high = GLYPH_SIZE * roll(0.82, 1.05)
  const lean = roll(-0.18, 0.18)
  const angle = roll(-0.22, 0.22)
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  return ({ x, y }) => {
    const across = x * wide + y * high * lean
    return { x: across * cos - y * high * sin, y: across * sin + y * high * cos }
  }
}

function createWarp(roll: Roll): Move {
  const lean = createWave(roll, { height: roll(2.5, 5), length: 70 })
  const swell = createWave(roll, { height: roll(3, 6), length: 150 })
  const ripple = createWave(roll, { height: roll(0.8, 1.8), length: 45 })
  return ({ x, y }) => ({ x: x + lean(y), y: y + swell(x) + ripple(x) })
}

function createWave(roll: Roll, { height, length }: { height: number; length: number }) {
  const phase = roll(0, 2 * Math.PI)
  const turn = (2 * Math.PI) / (length * roll(0.75, 1.3))
  return (at: number) => height * Math.sin(at * turn + phase)
}

/** Inside it ink and paper change places: glyphs keep their shape, a template loses its sign. */
function drawHill(roll: Roll): Contour {
  const base = roll(15, HEIGHT - 15)
  const wave = createWave(roll, { height: roll(16, 30), length: 160 })
  const far = roll(0, 1) < 0.5 ? -HEIGHT : 2 * HEIGHT
  const ridge = acrossPicture((x) => base + wave(x))
  return [...ridge, { x: 2 * WIDTH, y: far }, { x: -WIDTH, y: far }]
}

function drawRibbon(roll: Roll): Contour {
  const base = roll(25, HEIGHT - 25)
  const thick = roll(0.8, 1.2)
  const wave = createWave(roll, { height: roll(8, 20), length: 140 })
  const upper = acrossPicture((x) => base + wave(x) - thick)
  return [...upper, ...acrossPicture((x) => base + wave(x) + thick).reverse()]
}

function drawSpeckles(roll: Roll): Contour[] {
  return Array.from({ length: SPECKLES }, () => {
    const [x, y, size] = [roll(0, WIDTH), roll(0, HEIGHT), roll(0.8, 1.8)]
    return [
      { x: x - size, y },
      { x, y: y - size },
      { x: x + size, y },
      { x, y: y + size },
    ]
  })
}

function acrossPicture(height: (x: number) => number): Point[] {
  const xs = Array.from({ length: WIDTH / 4 + 9 }, (_, i) => 4 * i - 16)
  return xs.map((x) => ({ x, y: height(x) }))
}

function move(contours: readonly Contour[], by: Move): Contour[] {
  return contours.map((contour) => contour.map(by))
}
