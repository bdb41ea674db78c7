import { foldedName } from '../../login/folded-name.ts'

/**
 * Whether a typed name is a value of the entry, but for what the login throttle folds as well. Directories
 * ignore more: blanks at the front, accents, width. Each such spelling would give an attacker further
 * guesses at the same password.
 */
export function isSameName(typed: string, values: readonly string[]): boolean {
  const folded = foldedName(typed)
  return values.some((value) => foldedName(value) === folded)
}

/** Whether a name can be bound without looking for its entry first: without spellings that a directory ignores. */
export function isPlainName(typed: string): boolean {
  return /^[!-~]+$/.test(typed)
}
