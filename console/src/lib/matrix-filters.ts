import type { CompactMatrix, CompactOperation } from '#client'

export const matrixViews = ['all', 'everyone', 'admin', 'nobody', 'unserved', 'routes'] as const
export type MatrixView = (typeof matrixViews)[number]

export function matrixView(text: string | undefined): MatrixView {
  return matrixViews.find((view) => view === text) ?? 'all'
}

/** The operations of a view that contain all words. */
export function shownOperations(
  { operations, roles, cells }: Pick<CompactMatrix, 'operations' | 'roles' | 'cells'>,
  view: MatrixView,
  words: string,
): readonly CompactOperation[] {
  const [admin, ...none] = [
    roles.indexOf('admin'),
    ...Object.keys(cells).filter((letter) => cells[letter] === 'no' || cells[letter] === 'denied'),
  ]
  const wanted = wordsIn(words)
  return operations.filter(({ method, path, access, cells: letters }) => {
    if (!hasAll(`${method} ${path}`, wanted)) return false
    if (view === 'everyone') return !access.includes('permitted')
    if (view !== 'admin') return true
    return [...letters].every((letter, at) => at === admin || none.includes(letter))
  })
}

/** A column of the matrix: a role, and the place of its letter in an operation. */
export interface MatrixRole {
  readonly role: string
  readonly place: number
}

/** The roles that contain one of the words. */
export function shownRoles(roles: readonly string[], words: string): readonly MatrixRole[] {
  const wanted = wordsIn(words)
  const isShown = (role: string) => {
    return wanted.length === 0 || wanted.some((word) => role.toLowerCase().includes(word))
  }
  return roles.map((role, place) => ({ role, place })).filter(({ role }) => isShown(role))
}

export function hasWords(text: string, words: string): boolean {
  return hasAll(text, wordsIn(words))
}

function hasAll(text: string, wanted: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return wanted.every((word) => lower.includes(word))
}

function wordsIn(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

/** A call that an operation stands for. */
export function exampleCall({ method, path }: { readonly method: string; readonly path: string }): {
  readonly method: string
  readonly path: string
} {
  const filled = path.replace(/\/:[^/]+/g, '/x').replace(/\*$/, 'x')
  return { method: method.split(/[^A-Z]+/).find((each) => each !== '') ?? 'GET', path: filled }
}
