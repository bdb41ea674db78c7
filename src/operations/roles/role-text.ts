import { type DataScope, dataScopeProblem, readDataScope } from '../../kernel/data-scope.ts'
import { InvalidInput } from '../invalid-input.ts'

/** What the columns of `sys_role` hold. */
const maxCharacters = 128

/** Reads `--data-scope`. Throws `InvalidInput` for anything but go-admin's five values. */
export function dataScopeOption(text: string): DataScope {
  const scope = readDataScope(text)
  if (scope === undefined) throw new InvalidInput('data-scope', dataScopeProblem(text))
  return scope
}

/** Throws `InvalidInput` for a key that policies, shells or headers could read differently. */
export function checkKey(key: string): void {
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._:-]*$/u.test(key) && [...key].length <= maxCharacters) return
  throw new InvalidInput(
    undefined,
    `${JSON.stringify(key)} cannot be a role key: use 1 to ${maxCharacters} letters, digits, ".", "_", ":" or "-", beginning with a letter or digit`,
  )
}

/** Throws `InvalidInput` for a name that the column or a terminal cannot show. */
export function checkName(name: string): void {
  const characters = [...name].length
  if (characters === 0 || characters > maxCharacters) {
    throw new InvalidInput('name', `use 1 to ${maxCharacters} characters`)
  }
  if (/^\s|\s$|\p{Cc}|\p{Cs}|\p{Bidi_Control}/u.test(name)) {
    throw new InvalidInput(
      'name',
      'remove control characters, text-direction marks, and spaces at the start or end',
    )
  }
}
