/** Characters that the column holds, and bytes that login accepts. */
const longestName = { characters: 64, bytes: 128 }

/** Why this text cannot be the name of a new account, if so. */
export function nameProblem(name: string): string | undefined {
  const characters = [...name].length
  const { characters: maxCharacters, bytes: maxBytes } = longestName
  if (characters === 0 || characters > maxCharacters || Buffer.byteLength(name) > maxBytes) {
    return `a user name must have 1 to ${maxCharacters} characters and at most ${maxBytes} bytes`
  }
  if (/^\s|\s$|\p{Cc}|\p{Cs}|\p{Bidi_Control}/u.test(name)) {
    return 'a user name must not contain control characters or text-direction marks, or start or end with a space'
  }
  return undefined
}
