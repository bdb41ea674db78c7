import { describe, expect, test } from 'vitest'
import { fillContours } from '../../src/login/captcha/glyph-raster.ts'

const ink = 34
const paper = 255

function square(left: number, top: number, size: number): Float64Array {
  const [right, bottom] = [left + size, top + size]
  return Float64Array.of(left, top, right, top, right, bottom, left, bottom)
}

function rows(pixels: Uint8Array, width: number): number[][] {
  const count = pixels.length / width
  return Array.from({ length: count }, (_, y) => [...pixels.subarray(y * width, (y + 1) * width)])
}

describe('contours', () => {
  test('are filled with ink, and leave the rest of the picture as paper', () => {
    const pixels = fillContours([square(1, 1, 2)], 4, 4)

    expect(rows(pixels, 4)).toEqual([
      [paper, paper, paper, paper],
      [paper, ink, ink, paper],
      [paper, ink, ink, paper],
      [paper, paper, paper, paper],
    ])
  })

  test.each([
    ['the same direction', square(1, 1, 2)],
    ['the other direction', Float64Array.of(1, 1, 1, 3, 3, 3, 3, 1)],
  ])('that overlap show paper again, also when they go in %s', (_, inner) => {
    const pixels = fillContours([square(0, 0, 4), inner], 4, 4)

    expect(rows(pixels, 4)).toEqual([
      [ink, ink, ink, ink],
      [ink, paper, paper, ink],
      [ink, paper, paper, ink],
      [ink, ink, ink, ink],
    ])
  })

  test('have soft edges where they cover a part of a pixel', () => {
    const [row = []] = rows(fillContours([square(0.5, 0, 1)], 3, 1), 3)

    expect(row).toEqual([144, 144, paper])
  })

  test('are cut off at the border of the picture', () => {
    const pixels = fillContours([square(-5, -5, 20)], 2, 2)

    expect([...pixels]).toEqual([ink, ink, ink, ink])
  })
})
