import { readFileSync } from 'node:fs'
import { maxPasswordBytes, minPasswordBytes } from './password-length.ts'

/** A rule that a new password breaks. */
type PasswordRule =
  | 'password-length'
  | 'password-text'
  | 'password-common'
  | 'password-name'
  | 'password-unchanged'

interface Owner {
  readonly username: string
  /** The password that is replaced, where it is known. */
  readonly oldPassword?: string
}

/**
 * The first rule that a new password breaks. Existing passwords need not follow the rules. Character
 * classes are not required: they make passwords predictable, not strong (NIST SP 800-63B 3.1.1.2).
 */
export function brokenPasswordRule(text: string, owner: Owner): PasswordRule | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes < minPasswordBytes || bytes > maxPasswordBytes) return 'password-length'
  // C strings end at NUL, and a terminal sends the password up to the line break. A decoder replaces
  // invalid bytes with U+FFFD, so that no login could match the password.
  if (/[\0\r\n\ufffd]/.test(text) || !text.isWellFormed()) return 'password-text'
  if (text === owner.oldPassword) return 'password-unchanged'

  const forms = formsOf(text)
  const names = formsOf(owner.username)
  if (forms.some((form) => names.includes(form))) return 'password-name'
  return forms.some((form) => commonPasswords().has(form)) ? 'password-common' : undefined
}

/** How people vary one password: letter case, compatibility forms, and what they append. */
function formsOf(text: string): readonly string[] {
  const folded = text.normalize('NFKC').toLowerCase()
  const word = folded.replace(/[\d\p{P}\p{S}\s]+$/u, '')
  return [folded, word].filter((form) => form !== '')
}

let common: ReadonlySet<string> | undefined

/** The listed passwords, in lower case. Only processes that change passwords spend the megabyte. */
export function commonPasswords(): ReadonlySet<string> {
  // The product's name is an obvious guess.
  common ??= new Set(['postern', ...readWords(new URL('./common-passwords.txt', import.meta.url))])
  return common
}

/** Words with spaces between; lines that begin with `#` and a space are about them. */
function readWords(file: URL): readonly string[] {
  return readFileSync(file, 'utf8')
    .replace(/^#(?: .*)?$/gm, '')
    .trim()
    .split(/\s+/)
}
