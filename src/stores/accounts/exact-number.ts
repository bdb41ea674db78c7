declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as the given text. ECMAScript 2026, in Node since 22. */
    rawJSON(text: string): object
  }
}

/**
 * An id as a JSON number, as existing clients expect it, exact beyond 2^53 too: what a number
 * cannot hold becomes a value that `JSON.stringify` writes digit by digit. NULL becomes 0.
 */
export function exactNumber(text: string | null): number | object {
  const number = Number(text ?? 0)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(BigInt(text ?? 0).toString())
}
