import {
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { Invalid } from '../kernel/errors.ts'
import { tooDeep } from './json-keys.ts'
import { maxDepth, maxYamlNodes, maxYamlTokens } from './limits.ts'
import { createLines } from './lines.ts'
import { quote } from './quote.ts'
import type { Parsed } from './source.ts'

/** Parses YAML within the limits. Throws `Invalid` with the first problem and its place. */
export function parseYaml(name: string, text: string): Parsed {
  const lines = createLines(text)
  const fail = (offset: number, message: string): never => {
    throw new Invalid([{ file: name, ...lines.placeOf(offset), message }])
  }
  const document = compose(text, fail)
  const [error] = document.errors
  if (error !== undefined) return fail(error.pos[0], firstLine(error.message))
  checkKeys(document.contents, fail)
  replaceAliases(document.contents, fail)
  const offsetOf = createOffsets(document.contents)
  return {
    value: document.toJS(),
    placeOf: (pointer) => lines.placeOf(offsetOf(pointer)),
  }
}

/**
 * Feeds the parser token by token, to stop in time: its memory grows with tokens and its stack with
 * depth, and a few megabytes of either would end the process.
 */
function compose(text: string, fail: Fail): Document.Parsed {
  const parser = new Parser()
  // The library compares every two keys of a mapping: 7 s for 20,000 keys. checkKeys does it with a set.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, merge: true })
  const documents: Document.Parsed[] = []
  const take = (tokens: ReturnType<Parser['next']>) => {
    for (const token of tokens) documents.push(...composer.next(token))
  }
  let tokens = 0
  for (const lexeme of new Lexer().lex(text)) {
    take(parser.next(lexeme))
    if (parser.stack.length > maxDepth) fail(parser.offset, tooDeep)
    if (++tokens > maxYamlTokens) fail(parser.offset, 'too many values: convert it to JSON')
    if (documents.length > 1) break
  }
  take(parser.end())
  documents.push(...composer.end(true, text.length))
  const [first, second] = documents
  if (second !== undefined) return fail(second.range[0], 'more than one YAML document in a file')
  return first ?? fail(0, 'the file is empty')
}

/** The library's message may go on with an excerpt. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? ''
}

/** Refuses doubled keys and keys that are not scalars. */
function checkKeys(root: unknown, fail: Fail): void {
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (isSeq(node)) for (const item of node.items) waiting.push(item)
    if (isMap(node)) for (const value of valuesOf(node, fail)) waiting.push(value)
  }
}

function* valuesOf({ items }: YAMLMap, fail: Fail): Generator<unknown> {
  const keys = new Set<string>()
  for (const { key, value } of items) {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0
    if (!isScalar(key)) fail(offset, 'a key must be text')
    const text = String((key as Scalar).value)
    if (keys.has(text)) fail(offset, `duplicate key ${quote(text)}`)
    keys.add(text)
    yield value
  }
}

/** Finds the offset of the key at the end of a pointer, or of the last one that exists. */
function createOffsets(root: unknown): (pointer: readonly string[]) => number {
  const pairsOf = createPairs()
  return (pointer) => {
    let offset = 0
    let node = root
    for (const step of pointer) {
      const next = isSeq(node) ? node.items[Number(step)] : pairsOf(node).get(step)
      if (next === undefined) return offset
      const place = isPair(next) ? next.key : next
      if (isNode(place)) offset = place.range?.[0] ?? offset
      node = isPair(next) ? next.value : next
    }
    return offset
  }
}

/** The pairs of mappings by key. Every operation asks for its path: a search would be quadratic. */
function createPairs(): (node: unknown) => ReadonlyMap<string, Pair> {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  return (node) => {
    if (!isMap(node)) return new Map()
    const pairs =
      known.get(node) ??
      new Map(node.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]))
    known.set(node, pairs)
    return pairs
  }
}

/** What a node has after all aliases in it are replaced. */
interface Extent {
  readonly nodes: number
  readonly depth: number
}

/** Throws, with an offset in the text. */
type Fail = (offset: number, message: string) => never

/**
 * Replaces each alias with the node that it repeats, within the limits. The library resolves aliases
 * in quadratic time (a minute for 16,000), and without end where one is a part of what it repeats.
 */
function replaceAliases(root: Node | null, fail: Fail): void {
  const anchored = new Map<string, Node>()
  /** Of the anchored nodes that were left. */
  const extents = new Map<Node, Extent>()

  function replaced(node: unknown): { readonly node: unknown; readonly extent: Extent } {
    if (!isNode(node)) return { node, extent: single }
    const offset = node.range?.[0] ?? 0
    if (isAlias(node)) {
      const source = anchored.get(node.source)
      if (source === undefined) return fail(offset, 'an alias needs an anchor before it')
      const extent = extents.get(source)
      if (extent === undefined) return fail(offset, 'an alias must not be in what it repeats')
      return { node: source, extent }
    }
    if (node.anchor !== undefined) anchored.set(node.anchor, node)
    const extent = isCollection(node)
      ? sumOf(node.items.map((_, at) => replaceItem(node, at)))
      : single
    if (extent.nodes > maxYamlNodes) return fail(offset, tooManyAliases)
    if (extent.depth > maxDepth) return fail(offset, tooDeep)
    if (node.anchor !== undefined) extents.set(node, extent)
    return { node, extent }
  }

  function replaceItem({ items }: { readonly items: unknown[] }, at: number): Extent {
    const item = items[at]
    if (!isPair(item)) {
      const { node, extent } = replaced(item)
      items[at] = node
      return extent
    }
    replaced(item.key)
    const { node, extent } = replaced(item.value)
    item.value = node
    if (isMergeKey(item.key) && !isMergeable(node)) {
      return fail(isNode(item.key) ? (item.key.range?.[0] ?? 0) : 0, '"<<" must name mappings')
    }
    return extent
  }

  replaced(root)
}

const tooManyAliases = 'aliases expand to too much: write the repeated parts out'

const single: Extent = { nodes: 1, depth: 1 }

function sumOf(parts: readonly Extent[]): Extent {
  return parts.reduce((sum, { nodes, depth }) => {
    return { nodes: sum.nodes + nodes, depth: Math.max(sum.depth, depth + 1) }
  }, single)
}

/** The library makes the plain key `<<` a symbol. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

function isMergeable(value: unknown): boolean {
  return isMap(value) || (isSeq(value) && value.items.every(isMap))
}
