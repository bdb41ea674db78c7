/** A closed polygon: x and y of each point in turn, with y pointing down. */
export type Contour = Float64Array

const LINES_PER_PIXEL = 4
const INK = 34
const PAPER = 255
/** More shades would enlarge the file without visibly softer edges. */
const SHADES = 8
const shades = Uint8Array.from(
  { length: SHADES + 1 },
  (_, step) => PAPER - (step / SHADES) * (PAPER - INK),
)

/**
 * Fills contours by the even-odd rule, dark on light: ink and paper swap where two shapes overlap.
 * Returns one byte per pixel, anti-aliased and clipped.
 */
export function fillContours(
  contours: readonly Contour[],
  width: number,
  height: number,
): Uint8Array {
  // Each edge records where a scan line enters or leaves a shape, so the running sum along a row says how
  // often a pixel is covered. The spare columns catch what lies right of the picture.
  const steps = { values: new Float32Array((width + 2) * height), width, height }
  for (const contour of contours) {
    let fromX = contour.at(-2) ?? 0
    let fromY = contour.at(-1) ?? 0
    for (let at = 0; at < contour.length; at += 2) {
      const toX = contour[at] ?? 0
      const toY = contour[at + 1] ?? 0
      if (fromY < toY) addEdge(steps, fromX, fromY, toX, toY, 1)
      else addEdge(steps, toX, toY, fromX, fromY, -1)
      fromX = toX
      fromY = toY
    }
  }
  return shade(steps)
}

interface Steps {
  readonly values: Float32Array
  readonly width: number
  readonly height: number
}

/** From top to bottom; `sign` is the direction of the contour. */
function addEdge(
  { values, width, height }: Steps,
  topX: number,
  topY: number,
  bottomX: number,
  bottomY: number,
  sign: number,
): void {
  const turn = sign / LINES_PER_PIXEL
  const slope = (bottomX - topX) / (bottomY - topY)
  const first = Math.max(0, Math.ceil(topY * LINES_PER_PIXEL - 0.5))
  const last = Math.min(height * LINES_PER_PIXEL, Math.ceil(bottomY * LINES_PER_PIXEL - 0.5))

  for (let line = first; line < last; line++) {
    const crossing = topX + ((line + 0.5) / LINES_PER_PIXEL - topY) * slope
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
    let gray = PAPER
    for (let x = 0; x < width; x++) {
      const step = values[y * (width + 2) + x] ?? 0
      // Most pixels are not on an edge and equal the one before.
      if (step !== 0) {
        times += step
        gray = grayOf(Math.abs(times))
      }
      pixels[y * width + x] = gray
    }
  }
  return pixels
}

function grayOf(times: number): number {
  // Modulo 2; `%` on fractions is many times slower.
  const rest = times - 2 * Math.floor(times / 2)
  const covered = rest > 1 ? 2 - rest : rest
  return shades[Math.round(covered * SHADES)] ?? PAPER
}
