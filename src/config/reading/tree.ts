import type { Problem } from '../../kernel/errors.ts'

/** The place of a value: a file with line and column, or an environment variable. */
export type Place = Omit<Problem, 'message'>

/** One key of a mapping. `place` is the place of the key, not of the value. */
export interface Member {
  readonly place: Place
  readonly tree: Tree
}

type Scalar = string | number | boolean | null

/** A parsed file before validation, with the place of every value. */
export type Tree =
  | { readonly kind: 'scalar'; readonly value: Scalar; readonly place: Place }
  | { readonly kind: 'list'; readonly items: readonly Tree[]; readonly place: Place }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Member>; readonly place: Place }

/** True for a key without a value, such as a section whose lines are all commented out. */
export function isEmpty(tree: Tree): boolean {
  return tree.kind === 'scalar' && tree.value === null
}

/**
 * The tree with one value added or replaced. If the path leads through a value that is not a mapping,
 * the tree stays unchanged: validation reports that value.
 */
export function withValue(tree: Tree, path: readonly string[], value: Tree): Tree {
  const [key, ...rest] = path
  if (key === undefined) return value

  const base = isEmpty(tree) ? emptyMap(tree.place) : tree
  if (base.kind !== 'map') return tree

  const entry = base.entries.get(key)
  const child = withValue(entry?.tree ?? emptyMap(value.place), rest, value)
  const entries = new Map(base.entries).set(key, {
    place: entry?.place ?? value.place,
    tree: child,
  })
  return { ...base, entries }
}

function emptyMap(place: Place): Tree & { readonly kind: 'map' } {
  return { kind: 'map', entries: new Map(), place }
}
