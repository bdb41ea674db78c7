const longest = 255

/** Why this text cannot be a note, if so. */
export function noteProblem(note: string): string | undefined {
  if ([...note].length > longest) return `--note: use at most ${longest} characters`
  return /\p{Cc}|\p{Cs}/u.test(note) ? '--note: must not contain control characters' : undefined
}
