import { expect, test } from 'vitest'
import { speechSamples } from '../../src/login/captcha/spoken-text.ts'

const digits = [...'0123456789']
const letters = [...'abcdefghijklmnopqrstuvwxyz']

/** mu-law at 8 kHz: one byte a sample, 0xff and 0x7f are silence. */
function soundOf(sample: string) {
  const bytes = Buffer.from(sample, 'base64')
  const loud = bytes.filter((byte) => (~byte & 0x7f) >= 0x20).length
  return { seconds: bytes.length / 8000, loudShare: loud / bytes.length }
}

test.each([
  ['en', [...digits, ...letters, 'capital']],
  ['zh', digits],
] as const)('every character that a captcha can have is spoken: %s', (language, names) => {
  for (const name of names) {
    const { seconds, loudShare } = soundOf(speechSamples()[language][name] ?? '')
    expect(seconds, name).toBeGreaterThan(0.15)
    expect(seconds, name).toBeLessThan(1.5)
    expect(loudShare, name).toBeGreaterThan(0.2)
  }
})

/** How many recordings these names have. */
function distinct(language: 'en' | 'zh', names: readonly string[]): number {
  return new Set(names.map((name) => speechSamples()[language][name])).size
}

test('no two digits sound the same', () => {
  expect(distinct('en', digits)).toBe(digits.length)
  expect(distinct('zh', digits)).toBe(digits.length)
})

test('no two letters sound the same', () => {
  expect(distinct('en', letters)).toBe(letters.length)
})
