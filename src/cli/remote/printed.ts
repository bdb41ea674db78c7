import type { Printed } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'

export const printedType = 'application/vnd.postern.printed+json'

const possible: ReadonlySet<unknown> = new Set(
  Object.values(exitCodes).filter((code) => code !== exitCodes.bug),
)

/** Reads such an answer. `undefined`: it is none. */
export function readPrinted(text: string): Printed | undefined {
  const { code, out, err } = (parseJson(text) ?? {}) as Partial<Record<string, unknown>>
  if (!possible.has(code) || typeof out !== 'string' || typeof err !== 'string') return undefined
  return { code: code as number, out: harmless(out), err: harmless(err) }
}

/** The value, or `undefined` for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Commands print line ends and no other control characters; a console could be someone else's program
 * that sends codes to the terminal. CSV ends its lines with CR and LF.
 */
function harmless(text: string): string {
  return text.replace(/\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => {
    if (found === '\n' || found === '\r\n' || found === '\t') return found
    return `\\u{${found.codePointAt(0)?.toString(16)}}`
  })
}
