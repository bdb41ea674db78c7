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
import type { Problem } from '../../errors.ts'
import type { Entry, Place, Tree } from './tree.ts'

// The library's own messages quote the source, and the source may hold a secret.
const COMPLAINTS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'this escape is unknown between double quotes: use single quotes',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_SCALAR_START: 'a value cannot begin with this character: put it in single quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value cannot hold ": " unless it is in quotes',
  MISSING_CHAR: 'a character is missing: a closing quote or bracket, or ": " after a key',
  MULTIPLE_DOCS: 'a second document begins here: keep one',
  TAB_AS_INDENT: 'tabs cannot indent: use spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) have no meaning here: remove it',
}

/** A tree, or every problem that keeps the text from being one. */
type Parsing =
  | { readonly tree: Tree; readonly problems: readonly [] }
  | { readonly tree?: never; readonly problems: readonly Problem[] }

/**
 * Reads YAML text. `name` stands in every place; `lines` says whether line and column do too.
 * Refuses bad syntax, a key that is given twice, aliases and tags; never quotes the text.
 */
export function parseYaml(text: string, name: string, lines: boolean): Parsing {
  const lineCounter = new LineCounter()
  // Keys are compared below, where the place of the first one is at hand.
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

  const complaints = [...document.errors, ...document.warnings]
  if (complaints.length > 0) {
    const problems = complaints.map(({ code, pos }) => ({
      ...placeOf(pos[0]),
      message: `not YAML: ${COMPLAINTS[code] ?? 'nothing that YAML allows here'}`,
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
    problems.push({ ...place, message: 'aliases and tags have no meaning here: write the value' })
    return { kind: 'scalar', value: null, place }
  }

  function readMap(pairs: readonly Pair[], place: Place): Tree {
    const entries = new Map<string, Entry>()

    for (const pair of pairs) {
      const keyPlace = startOf(pair.key) ?? place
      if (!isScalar(pair.key)) {
        problems.push({ ...keyPlace, message: 'a key must be plain text' })
        continue
      }
      const key = String(pair.key.value)
      const first = entries.get(key)
      if (first !== undefined) {
        const where = first.place.line === undefined ? '' : ` in line ${first.place.line}`
        problems.push({
          ...keyPlace,
          message: `this key stands there twice, first${where}: keep one`,
        })
        continue
      }
      const tree = read(pair.value, keyPlace)
      // A section is where its name stands, not where its first line does.
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
