import { maxPasswordBytes } from '../../login/login-request.ts'

const minPasswordBytes = 8
/** Characters that the column holds, and bytes that login accepts. */
const longestName = { characters: 64, bytes: 128 }

/** Why this text cannot be a password, if so. bcrypt reads at most 72 bytes. */
export function passwordProblem(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes < minPasswordBytes || bytes > maxPasswordBytes) {
    return `the password has ${bytes} bytes: use ${minPasswordBytes} to ${maxPasswordBytes}`
  }
  if (/[\0\r\n]/.test(text))
    return 'the password contains a line break or NUL: use one line of text'
  // The decoder replaces invalid bytes with this character, so no login could match the password.
  return text.includes('\ufffd') ? 'the password is not valid UTF-8' : undefined
}

/** Why this text cannot be the name of a new account, if so. */
export function nameProblem(name: string): string | undefined {
  const characters = [...name].length
  const { characters: maxCharacters, bytes: maxBytes } = longestName
  if (characters === 0 || characters > maxCharacters || Buffer.byteLength(name) > maxBytes) {
    return `a user name must have 1 to ${maxCharacters} characters and at most ${maxBytes} bytes`
  }
  if (/^\s|\s$|\p{Cc}|\p{Cs}/u.test(name)) {
    return 'a user name must not contain control characters, or start or end with a space'
  }
  return undefined
}
