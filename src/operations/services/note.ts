import { InvalidInput } from '../invalid-input.ts'

const longest = 255

/** Throws `InvalidInput` for a text that cannot be a note. */
export function checkNote(note: string): void {
  if ([...note].length > longest) {
    throw new InvalidInput('note', `use at most ${longest} characters`)
  }
  if (/\p{Cc}|\p{Cs}/u.test(note)) {
    throw new InvalidInput('note', 'must not contain control characters')
  }
}
