import { type ErrorCode, isMap, isScalar, isSeq, type Pair } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import { parsePlacedYaml } from '../../kernel/yaml.ts'
import type { Member, Place, Tree } from './tree.ts'

// The messages of the library quote the source, which may hold a secret.
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'unknown escape sequence in double quotes; use single quotes',
  BAD_INDENT: 'wrong indentation, or a bracket is not closed',
  BAD_SCALAR_START: 'an unquoted value cannot start with this character; put it in single quotes',
  BLOCK_AS_IMPLICIT_KEY: 'an unquoted value cannot contain ": "; put it in quotes',
  MISSING_CHAR: 'missing character: add the closing quote or bracket, or ": " after the key',
  MULTIPLE_DOCS: 'a second document starts here; keep one',
  TAB_AS_INDENT: 'tab in the indentation; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) are not supported; remove it',
}

/** A tree, or every syntax error. */
type Parsing =
  | { readonly tree: Tree; readonly problems: readonly [] }
  | { readonly tree?: never; readonly problems: readonly Problem[] }

/**
 * Parses YAML. Every place has `name` as its file, and line and column if `lines` is set.
 * Rejects duplicate keys, aliases and tags; never quotes the text, which may hold a secret.
 */
export function parseYaml(text: string, name: string, lines: boolean): Parsing {
  // Duplicates are found below, where the line of the first key is known.
  const { contents, errors, warnings, placeAt, placeOf } = parsePlacedYaml(
    { name, text },
    { uniqueKeys: false },
  )
  const shownAt = (offset: number): Place => (lines ? placeAt(offset) : { file: name })

  const invalid = [...errors, ...warnings]
  if (invalid.length > 0) {
    const problems = invalid.map(({ code, pos }) => ({
      ...shownAt(pos[0]),
      message: `invalid YAML: ${MESSAGES[code] ?? 'syntax error'}`,
    }))
    return { problems }
  }

  const reader = createReader(lines ? placeOf : () => undefined, shownAt(0))
  const tree = reader.read(contents)
  return reader.problems.length > 0 ? { problems: reader.problems } : { tree, problems: [] }
}

function createReader(startOf: (node: unknown) => Place | undefined, start: Place) {
  const problems: Problem[] = []

  function read(node: unknown, fallback = start): Tree {
    const place = startOf(node) ?? fallback
    if (node === null || node === undefined) return { kind: 'scalar', value: null, place }
    if (isMap(node)) return readMap(node.items, place)
    if (isSeq(node)) {
      return { kind: 'list', items: node.items.map((item) => read(item, place)), place }
    }

    const value = isScalar(node) ? node.value : undefined
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) {
      return { kind: 'scalar', value: value as string | number | boolean | null, place }
    }
    problems.push({
      ...place,
      message: 'aliases and tags are not supported; write the value itself',
    })
    return { kind: 'scalar', value: null, place }
  }

  function readMap(pairs: readonly Pair[], place: Place): Tree {
    const entries = new Map<string, Member>()

    for (const pair of pairs) {
      const keyPlace = startOf(pair.key) ?? place
      if (!isScalar(pair.key)) {
        problems.push({ ...keyPlace, message: 'a key must be text, not a list or a mapping' })
        continue
      }
      const key = String(pair.key.value)
      const first = entries.get(key)
      if (first !== undefined) {
        const where = first.place.line === undefined ? '' : ` on line ${first.place.line}`
        problems.push({
          ...keyPlace,
          message: `duplicate key, first${where || ' above'}; remove one`,
        })
        continue
      }
      const tree = read(pair.value, keyPlace)
      // The place of a section is its key, not its first line.
      const shown = tree.kind === 'scalar' && tree.value !== null ? tree.place : keyPlace
      entries.set(key, { place: keyPlace, tree: { ...tree, place: shown } })
    }
    return { kind: 'map', entries, place }
  }

  return { read, problems }
}
