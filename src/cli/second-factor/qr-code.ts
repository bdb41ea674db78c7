/** Bright white on black: in a terminal with a light background the code would be inverted. */
const colors = { on: '\u001b[97;40m', off: '\u001b[0m' }

/**
 * A QR code of half-block characters, for a terminal. The border of four modules is what the standard
 * (ISO/IEC 18004) demands: with less, some scanners find nothing.
 */
export async function qrCode(text: string, isTerminal: boolean): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  const { on, off } = isTerminal ? colors : { on: '', off: '' }
  const lines = renderUnicodeCompact(text, { border: 4 }).split('\n')
  return lines.map((line) => `${on}${line}${off}\n`).join('')
}
