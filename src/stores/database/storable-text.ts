/** Whether PostgreSQL can hold this text as it is: no NUL character, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * The nearest text that a `varchar(most)` holds: NUL characters left out, halves of surrogate
 * pairs replaced, cut after `most` code points, which is how PostgreSQL counts.
 */
export function toStorable(text: string, most: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '')
  if (clean.length <= most) return clean
  // A code point is at most two units: nothing beyond twice the length is needed.
  return [...clean.slice(0, most * 2)].slice(0, most).join('')
}
