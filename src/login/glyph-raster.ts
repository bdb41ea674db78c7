/** A place in the plane, y downwards. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A closed polygon; the last point joins the first. */
export type Contour = readonly Point[]

const LINES_PER_PIXEL = 4
const INK = 34
const PAPER = 255
const SHADES = 8

/**
 * Fills contours by the even-odd rule, dark on light: where two shapes overlap, ink and paper
 * change places. Returns one byte a pixel with soft edges; what lies outside is cut off.
 */
export function fillContours(
  contours: readonly Contour[],
  width: number,
  height: number,
): Uint8Array {
  // Each edge notes where a scan line enters or leaves a shape; the running sum along a row is
  // then how often the pixel is covered. The spare columns catch what lies right of the picture.
  const steps = { values: new Float32Array((width + 2) * height), width, height }
  for (const contour of contours) {
    let from = contour.at(-1)
    for (const to of contour) {
      if (from !== undefined) addEdge(steps, from, to)
      from = to
    }
  }
  return shade(steps)
}

interface Steps {
  readonly values: Float32Array
  readonly width: number
  readonly height: number
}

function addEdge({ values, width, height }: Steps, from: Point, to: Point): void {
  const falls = from.y < to.y
  const top = falls ? from : to
  const bottom = falls ? to : from
  const turn = (falls ? 1 : -1) / LINES_PER_PIXEL
  const slope = (bottom.x - top.x) / (bottom.y - top.y)
  const first = Math.max(0, Math.ceil(top.y * LINES_PER_PIXEL - 0.5))
  const last = Math.min(height * LINES_PER_PIXEL, Math.ceil(bottom.y * LINES_PER_PIXEL - 0.5))

  for (let line = first; line < last; line++) {
    const crossing = top.x + ((line + 0.5) / LINES_PER_PIXEL - top.y) * slope
    const x = Math.min(Math.max(crossing, 0), width)
    const column = Math.floor(x)
    const at = Math.floor(line / LINES_PER_PIXEL) * (width + 2) + column
    values[at] = (values[at] ?? 0) + turn * (1 - (x - column))
    values[at + 1] = (values[at + 1] ?? 0) + turn * (x - column)
  }
}

function shade({ values, width, height }: Steps): Uint8Array {
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    let times = 0
    for (let x = 0; x < width; x++) {
      times += values[y * (width + 2) + x] ?? 0
      const rest = Math.abs(times) % 2
      const covered = rest > 1 ? 2 - rest : rest
      // Few shades, because every further one makes the file larger and no edge softer to the eye.
      pixels[y * width + x] = PAPER - (Math.round(covered * SHADES) / SHADES) * (PAPER - INK)
    }
  }
  return pixels
}
