import { createRequire } from 'node:module'
import type SvgCaptcha from 'svg-captcha'
import type { Contour } from './glyph-raster.ts'

const EM = 1000
const DIGIT_HEIGHT = 450
const PIECE_LENGTH = 20

interface Point {
  readonly x: number
  readonly y: number
}

let font: typeof SvgCaptcha | undefined

/** Loaded for the first captcha: its font engine is the largest file that a start would read. */
function loadFont(): typeof SvgCaptcha {
  font ??= createRequire(import.meta.url)('svg-captcha') as typeof SvgCaptcha
  return font
}

const outlines = new Map<string, readonly Contour[]>()

/**
 * The outline of one letter or digit as polygons around the origin; a digit is about 1 high. Sides are
 * cut into short pieces, so that they bend when their points are warped.
 */
export function outlineOf(character: string): readonly Contour[] {
  const known = outlines.get(character)
  if (known !== undefined) return known
  // One character per call: the library shuffles the paths of a longer text. Its jitter is invisible at
  // this size.
  const svg = loadFont()(character, { width: EM, height: EM, fontSize: EM, noise: 0 })
  const outline = center(faceOf(parsePath(svg)).map(flat))
  outlines.set(character, outline)
  return outline
}

/** The bounding box. */
export function boundsOf(contours: readonly Contour[]) {
  const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
  for (const contour of contours) {
    for (let at = 0; at < contour.length; at += 2) {
      const [x, y] = [contour[at] ?? 0, contour[at + 1] ?? 0]
      if (x < bounds.left) bounds.left = x
      if (x > bounds.right) bounds.right = x
      if (y < bounds.top) bounds.top = y
      if (y > bounds.bottom) bounds.bottom = y
    }
  }
  return bounds
}

function parsePath(svg: string): (readonly Point[])[] {
  const contours: Point[][] = []
  for (const [, command, numbers = ''] of svg.matchAll(/([MLQC])(-?\d[-\d. ]*)/g)) {
    const points = parsePoints(numbers)
    const contour = contours.at(-1)
    const start = contour?.at(-1)
    if (command === 'M' || contour === undefined || start === undefined) contours.push(points)
    else contour.push(...cut(start, points))
  }
  return contours
}

function cut(start: Point, controls: readonly Point[]): Point[] {
  const end = controls.at(-1) ?? start
  const pieces = Math.ceil(Math.hypot(end.x - start.x, end.y - start.y) / PIECE_LENGTH)
  return Array.from({ length: pieces }, (_, i) => pointOn([start, ...controls], (i + 1) / pieces))
}

function parsePoints(numbers: string): Point[] {
  return Array.from(numbers.matchAll(/(-?[\d.]+) ?(-?[\d.]+)/g), ([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }))
}

/** De Casteljau's algorithm, for lines, quadratic and cubic curves. */
function pointOn(controls: readonly Point[], part: number): Point {
  const [first, ...rest] = controls
  if (first === undefined) throw new RangeError('a curve without points')
  if (rest.length === 0) return first
  let from = first
  const closer = rest.map((to) => {
    const point = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
    from = to
    return point
  })
  return pointOn(closer, part)
}

/**
 * The font draws a hollow face on a shadow. An outermost contour bounds both, a contour inside one other
 * bounds the face, and one inside two others is a hole of the face. Face and holes make a solid glyph.
 */
function faceOf(contours: readonly (readonly Point[])[]): (readonly Point[])[] {
  return contours.filter((contour) => {
    const depth = contours.filter((other) => other !== contour && surrounds(other, contour)).length
    return depth === 1 || depth === 2
  })
}

function surrounds(outer: readonly Point[], inner: readonly Point[]): boolean {
  const point = inner[0]
  let from = outer.at(-1)
  let inside = false
  for (const to of outer) {
    if (from !== undefined && point !== undefined && from.y > point.y !== to.y > point.y) {
      const x = from.x + ((point.y - from.y) / (to.y - from.y)) * (to.x - from.x)
      if (x > point.x) inside = !inside
    }
    from = to
  }
  return inside
}

function center(contours: readonly Contour[]): readonly Contour[] {
  const { left, right, top, bottom } = boundsOf(contours)
  const middle = [(left + right) / 2, (top + bottom) / 2] as const
  return contours.map((contour) =>
    contour.map((value, at) => (value - middle[at % 2 === 0 ? 0 : 1]) / DIGIT_HEIGHT),
  )
}

function flat(points: readonly Point[]): Contour {
  return Float64Array.from(points.flatMap(({ x, y }) => [x, y]))
}
