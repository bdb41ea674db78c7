/** A grey picture as the solver sees it. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** What the solver compares: the darkness of pixels, or only where dark meets light. */
export type Look = 'ink' | 'edges'

/** One averaged, normalised slice for every place in the text and every character there. */
export type Templates = readonly ReadonlyMap<string, Float32Array>[]

const SIDE = 16
const INK_COLUMN = 0.1
const EDGE_COLUMN = 0.21

/** Averages the slices of pictures whose texts are known, place by place. */
export function learnTemplates(
  samples: readonly { readonly text: string; readonly picture: Picture }[],
  look: Look,
): Templates {
  const places = Array.from(samples[0]?.text ?? '', () => new Map<string, Float32Array>())
  for (const { text, picture } of samples) {
    for (const [place, slice] of slicesOf(picture, look, places.length).entries()) {
      const character = text.charAt(place)
      const sum = places[place]?.get(character) ?? new Float32Array(slice.length)
      places[place]?.set(
        character,
        sum.map((value, i) => value + (slice[i] ?? 0)),
      )
    }
  }
  return places.map((place) => new Map(Array.from(place, ([key, sum]) => [key, normalise(sum)])))
}

/** Cuts what looks like the text into equal slices and takes the nearest template for each. */
export function solveByTemplates(picture: Picture, templates: Templates, look: Look): string {
  return slicesOf(picture, look, templates.length)
    .map((slice, place) => {
      const scores = Array.from(templates[place] ?? [], ([character, template]) => ({
        character,
        score: template.reduce((sum, value, i) => sum + value * (slice[i] ?? 0), 0),
      }))
      return scores.sort((a, b) => b.score - a.score)[0]?.character ?? ''
    })
    .join('')
}

function slicesOf(picture: Picture, look: Look, count: number): Float32Array[] {
  const { width, height } = picture
  const seen = look === 'ink' ? inkOf(picture) : edgesOf(picture)
  const busy = (look === 'ink' ? INK_COLUMN : EDGE_COLUMN) * height
  const columns = Array.from({ length: width }, (_, x) => {
    let sum = 0
    for (let y = 0; y < height; y++) sum += seen[y * width + x] ?? 0
    return sum > busy
  })
  const left = Math.max(0, columns.indexOf(true))
  const right = Math.max(left, columns.lastIndexOf(true)) + 1
  const wide = (right - left) / count
  return Array.from({ length: count }, (_, i) => shrink(seen, picture, left + i * wide, wide))
}

function inkOf({ pixels }: Picture): Float32Array {
  const ink = new Float32Array(pixels.length)
  for (let i = 0; i < pixels.length; i++) ink[i] = 1 - (pixels[i] ?? 255) / 255
  return ink
}

function edgesOf({ width, height, pixels }: Picture): Float32Array {
  const edges = new Float32Array(pixels.length)
  const step = (i: number, by: number) => Math.abs((pixels[i + by] ?? 0) - (pixels[i - by] ?? 0))
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const i = y * width + x
      edges[i] = Math.min(1, (step(i, 1) + step(i, width)) / 255)
    }
  }
  return edges
}

function shrink(
  seen: Float32Array,
  { width, height }: Picture,
  left: number,
  wide: number,
): Float32Array {
  const small = new Float32Array(SIDE * SIDE)
  for (let y = 0; y < height; y++) {
    for (let x = Math.ceil(left); x < left + wide && x < width; x++) {
      const cell = Math.floor((y / height) * SIDE) * SIDE + Math.floor(((x - left) / wide) * SIDE)
      small[cell] = (small[cell] ?? 0) + (seen[y * width + x] ?? 0)
    }
  }
  return normalise(small)
}

function normalise(values: Float32Array): Float32Array {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0))
  return values.map((value) => (spread === 0 ? 0 : (value - mean) / spread))
}
