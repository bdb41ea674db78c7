/**
 * The `points` of SVG polylines: values at equal distances, `top` at the upper edge. A value that is
 * `undefined` begins a new line.
 */
export function linesOf(
  values: readonly (number | undefined)[],
  { width, height, top }: { width: number; height: number; top: number },
): readonly string[] {
  const step = values.length > 1 ? width / (values.length - 1) : 0
  const lines: string[][] = []
  let line: string[] | undefined
  for (const [at, value] of values.entries()) {
    if (value === undefined) {
      line = undefined
      continue
    }
    if (line === undefined) {
      line = []
      lines.push(line)
    }
    line.push(`${round(at * step)},${round(height - (value / top) * height)}`)
  }
  // A line of one point would be invisible.
  return lines.map((each) => (each.length === 1 ? [...each, ...each] : each).join(' '))
}

/** A round number that no value exceeds: 1, 2 or 5 times a power of ten. */
export function highestMark(highest: number): number {
  if (highest <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(highest))
  return ([1, 2, 5, 10].find((times) => times * power >= highest) ?? 10) * power
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
