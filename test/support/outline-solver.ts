import svgCaptcha from 'svg-captcha'

/** What a glyph's commands (`M`, `L`, `Q`, `C`, `Z`, in order) say about the character. */
export type OutlineDictionary = ReadonlyMap<string, string>

/** A captcha as svg-captcha itself sends it: vector paths in random order, with noise lines. */
export function drawStock(text: string): string {
  return svgCaptcha(text, { width: 150, height: 50, fontSize: 56, noise: 2 })
}

/** Draws every character once and remembers its commands, which the library's jitter never moves. */
export function learnOutlines(alphabet: string): OutlineDictionary {
  return new Map(
    Array.from(alphabet, (character) => [
      outlinesIn(drawStock(character)).map(signatureOf).join(),
      character,
    ]),
  )
}

/**
 * The published attack on svg-captcha: finds glyph outlines anywhere in a text, sorts them from
 * left to right and looks each one up. Returns an empty text where it finds none that it knows.
 */
export function solveOutlines(sent: string, dictionary: OutlineDictionary): string {
  return outlinesIn(sent)
    .map((outline) => ({ left: leftOf(outline), character: dictionary.get(signatureOf(outline)) }))
    .sort((a, b) => a.left - b.left)
    .map(({ character }) => character ?? '')
    .join('')
}

// Noise lines are open and have commas; only a glyph starts with a move and ends closed.
function outlinesIn(sent: string): string[] {
  return sent.match(/M-?\d[-\d. MLQCZ]*Z/g) ?? []
}

function signatureOf(outline: string): string {
  return outline.replace(/[^MLQCZ]/g, '')
}

function leftOf(outline: string): number {
  return Math.min(...Array.from(outline.matchAll(/[ML](-?[\d.]+)/g), ([, x]) => Number(x)))
}
