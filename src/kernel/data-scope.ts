import { didYouMean } from './suggest.ts'

/**
 * The data scopes of go-admin: of which rows a service shows a caller. Tokens, headers and `sys_role`
 * hold the number; people may also write the name.
 */
export const dataScopes = [
  { number: '1', name: 'all', meaning: 'all rows' },
  {
    number: '2',
    name: 'custom',
    meaning: 'rows of the departments that go-admin lists for the role',
  },
  { number: '3', name: 'department', meaning: 'rows of their own department' },
  {
    number: '4',
    name: 'department-and-below',
    meaning: 'rows of their own department and those below it',
  },
  { number: '5', name: 'self', meaning: 'rows that they created' },
] as const

export type DataScope = (typeof dataScopes)[number]['number']

/** Reads a number or a name. `undefined`: neither, see `dataScopeProblem`. */
export function readDataScope(text: string): DataScope | undefined {
  const wanted = text.toLowerCase()
  return dataScopes.find(({ number, name }) => number === wanted || name === wanted)?.number
}

/** The name of a stored data scope; `undefined` for values that go-admin does not define. */
export function dataScopeName(number: string): string | undefined {
  return dataScopes.find((scope) => scope.number === number)?.name
}

/** `5 self`; a stored value that go-admin does not define is shown as it is. */
export function dataScopeInWords(stored: string): string {
  const name = dataScopeName(stored)
  return name === undefined ? stored || 'empty' : `${stored} ${name}`
}

/** Says which values are valid, for the end of a message about one that is not. */
export function dataScopeProblem(text: string): string {
  const names = dataScopes.map(({ name }) => name)
  const all = dataScopes.map(({ number, name }) => `${number} ${name}`).join(', ')
  return `${JSON.stringify(text)} is not a data scope (defined: ${all})${didYouMean(text, names)}`
}
