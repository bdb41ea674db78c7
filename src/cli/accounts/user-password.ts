import { maxPasswordBytes } from '../../login/login-request.ts'

const leastPasswordBytes = 8
/** Characters that the column holds, and bytes that login accepts. */
const longestName = { characters: 64, bytes: 128 }

/** Why this text cannot be a password, or nothing. bcrypt reads at most 72 bytes. */
export function passwordProblem(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes < leastPasswordBytes || bytes > maxPasswordBytes) {
    return `a password has ${leastPasswordBytes} to ${maxPasswordBytes} bytes, this one has ${bytes}`
  }
  if (/[\0\r\n]/.test(text)) return 'a password is one line without NUL characters'
  // What could not be decoded was replaced by this: nobody could log in with what is left.
  return text.includes('\ufffd') ? 'a password is text in UTF-8, and this one is not' : undefined
}

/** Why this text cannot be the name of a new account, or nothing. */
export function nameProblem(name: string): string | undefined {
  const characters = [...name].length
  const { characters: mostCharacters, bytes: mostBytes } = longestName
  if (characters === 0 || characters > mostCharacters || Buffer.byteLength(name) > mostBytes) {
    return `a name has 1 to ${mostCharacters} characters and at most ${mostBytes} bytes`
  }
  if (/^\s|\s$|\p{Cc}|\p{Cs}/u.test(name)) {
    return 'a name has no control characters, and no space at its ends'
  }
  return undefined
}
