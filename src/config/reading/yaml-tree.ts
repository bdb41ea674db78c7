import {
  type ErrorCode,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Node as YamlNode,
} from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
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
  const lineCounter = new LineCounter()
  // Duplicates are found below, where the line of the first key is known.
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const placeOf = (offset: number): Place => {
    if (!lines) return { file: name }
    const { line, col } = lineCounter.linePos(offset)
    return { file: name, line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0) {
    const problems = errors.map(({ code, pos }) => ({
      ...placeOf(pos[0]),
      message: `invalid YAML: ${MESSAGES[code] ?? 'syntax error'}`,
    }))
    return { problems }
  }

  const reader = createReader(placeOf)
  const tree = reader.read(document.contents)
  return reader.problems.length > 0 ? { problems: reader.problems } : { tree, problems: [] }
}

function createReader(placeOf: (offset: number) => Place) {
  const problems: Problem[] = []

  function read(node: unknown, fallback: Place = placeOf(0)): Tree {
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

  function startOf(node: unknown): Place | undefined {
    const range = (node as YamlNode | null | undefined)?.range
    return range ? placeOf(range[0]) : undefined
  }

  return { read, problems }
}
