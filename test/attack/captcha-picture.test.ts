import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawCaptcha } from '../../src/login/captcha-image.ts'
import { outlineOf } from '../../src/login/glyph-outlines.ts'
import { fillContours } from '../../src/login/glyph-raster.ts'
import { drawStock, learnOutlines, solveOutlines } from '../support/outline-solver.ts'
import { readPng } from '../support/read-png.ts'
import {
  type Look,
  learnTemplates,
  type Picture,
  solveByTemplates,
} from '../support/template-solver.ts'

const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Every picture is named by a number, so that a solve rate is the same in every run. */
function bytesOf(name: string): Buffer {
  return createHash('shake256', { outputLength: 512 }).update(name).digest()
}

function textOf(name: string): string {
  return Array.from(bytesOf(`text ${name}`).subarray(0, 4), (byte) => byte % 10).join('')
}

function texts(set: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => textOf(`${set} ${i}`))
}

function share<T>(items: readonly T[], holds: (item: T) => boolean): number {
  return items.filter(holds).length / items.length
}

describe('the outline attack, which looks glyphs up by their path commands', () => {
  const dictionary = learnOutlines(DIGITS)

  test('reads the vector captchas of the library', () => {
    const solved = share(texts('stock', 500), (text) => {
      return solveOutlines(drawStock(text), dictionary) === text
    })

    expect(solved).toBeGreaterThanOrEqual(0.95)
  })

  test('finds no outline in what is sent, neither as it travels nor unpacked', () => {
    const sent = texts('sent', 500).map((text, i) => drawCaptcha(text, bytesOf(`sent ${i}`)))
    const readings = sent.flatMap((file) => [
      `data:image/png;base64,${file.toString('base64')}`,
      file.toString('latin1'),
      inflateSync(file.subarray(file.indexOf('IDAT') + 4)).toString('latin1'),
    ])

    const found = readings.filter((reading) => solveOutlines(reading, dictionary) !== '')

    expect(found).toEqual([])
    expect(readings.filter((reading) => /<svg|<path|\sd="/.test(reading))).toEqual([])
  })
})

describe('the template attack, which compares slices of the picture with averages', () => {
  const looks = ['ink', 'edges'] as const satisfies readonly Look[]

  test.each(looks)('by %s reads most of plain type', (look) => {
    const templates = learnTemplates(samples('learn', 100, drawPlain), look)

    const solved = share(samples('plain', 100, drawPlain), ({ text, picture }) => {
      return solveByTemplates(picture, templates, look) === text
    })

    expect(solved).toBeGreaterThan(0.5)
  })

  // A captcha serves one attempt. Below one in twenty, this attacker spends more than twenty
  // pictures and logins, all of them counted, on each password that it gets to try. That is the bar
  // for friction and not for a wall: a trained recogniser reads more, the limits on login hold.
  test.each(looks)('by %s reads less than one in twenty of what is sent', (look) => {
    const templates = learnTemplates(samples('learn', 700, drawSent), look)

    const solved = share(samples('sent', 300, drawSent), ({ text, picture }) => {
      return solveByTemplates(picture, templates, look) === text
    })

    expect(solved).toBeLessThan(0.05)
  })

  function samples(set: string, count: number, draw: (text: string, name: string) => Picture) {
    return texts(set, count).map((text, i) => ({ text, picture: draw(text, `${set} ${i}`) }))
  }

  function drawSent(text: string, name: string): Picture {
    return readPng(drawCaptcha(text, bytesOf(name)))
  }

  function drawPlain(text: string): Picture {
    const contours = Array.from(text, outlineOf).flatMap((outline, place) =>
      outline.map((contour) =>
        contour.map((value, at) => (at % 2 === 0 ? 30 + 60 * place : 40) + 56 * value),
      ),
    )
    return { width: 240, height: 80, pixels: fillContours(contours, 240, 80) }
  }
})

describe('a captcha picture', () => {
  test('is 240 by 80, has ink and paper, and no chunk that could carry a text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z]{1,8}$/), (text) => {
        const { chunks, width, height, pixels } = readPng(drawCaptcha(text))

        expect(chunks).toEqual(['IHDR', 'IDAT', 'IEND'])
        expect({ width, height }).toEqual({ width: 240, height: 80 })
        expect(pixels.filter((grey) => grey < 64).length).toBeGreaterThan(500)
        expect(pixels.filter((grey) => grey > 192).length).toBeGreaterThan(500)
      }),
    )
  })

  test('is drawn for every digit and letter, and looks different for each', () => {
    const pictures = Array.from(DIGITS + LETTERS, (character) => {
      return drawCaptcha(character, bytesOf('one noise for all')).toString('base64')
    })

    expect(new Set(pictures).size).toBe(62)
  })

  test('of one text is never the same twice', () => {
    const pictures = Array.from({ length: 50 }, () => drawCaptcha('4711').toString('base64'))

    expect(new Set(pictures).size).toBe(50)
  })

  test('weighs a few kilobytes', () => {
    const sizes = texts('size', 100).map((text, i) => drawCaptcha(text, bytesOf(`${i}`)).length)

    expect(Math.max(...sizes)).toBeLessThan(4096)
  })

  // For an empty text the library would choose one by Math.random, which nobody could then answer.
  test.each(['', '123456789', '12 4', '12é4', '<b>', '12\n'])('is refused for %j', (text) => {
    expect(() => drawCaptcha(text)).toThrow(RangeError)
  })

  test('is refused without repeating the text, which would travel to a log', () => {
    const refused = () => drawCaptcha('47-11')

    expect(refused).toThrow(RangeError)
    expect(refused).not.toThrow(/47|11/)
  })
})
