import {
  addEdge,
  addParam,
  createNodes,
  emptyHash,
  findEdge,
  flagsOf,
  hasBelow,
  hashNext,
  hasPrefixes,
  literal,
  none,
  paramOf,
  prefix,
  root,
  setFlag,
  type TrieNodes,
  trim,
} from './trie-nodes.ts'

/**
 * Path patterns as a tree of segments. A pattern is known by a number: that of the node it ends in,
 * or its complement (`~node`) for one that ends there in `/*`.
 */
export interface PathTrie {
  /**
   * Writes the numbers of the patterns that a path matches to the front of `found` and returns how
   * many: literal segments before parameters before `*`. Numbers of nodes that only lead on to
   * longer patterns may be among them. Reads no further into a path than the patterns go, visits
   * each node at most once, so that nothing backtracks, and allocates nothing.
   */
  readonly match: (path: string, found: number[]) => number
}

/** A trie under construction. `add` takes what `patternProblem` has nothing against. */
export interface PathTrieBuilder {
  readonly add: (pattern: string) => number
  readonly finish: () => PathTrie
}

/** A trie without patterns, to be filled. */
export function createPathTrieBuilder(): PathTrieBuilder {
  const nodes = createNodes()
  return {
    add(pattern) {
      let node = root
      let at = 1
      for (let end = pattern.indexOf('/', at); end !== -1; end = pattern.indexOf('/', at)) {
        node = addSegment(nodes, node, pattern.slice(at, end))
        at = end + 1
      }
      return addLastSegment(nodes, node, pattern.slice(at))
    },
    finish: () => createPathTrie(trim(nodes)),
  }
}

const slash = 0x2f

function addSegment(nodes: TrieNodes, parent: number, segment: string): number {
  return segment.startsWith(':')
    ? addParam(nodes, parent)
    : addEdge(nodes, parent, literal, segment)
}

function addLastSegment(nodes: TrieNodes, parent: number, segment: string): number {
  if (segment === '*') {
    setFlag(nodes, parent, hasBelow)
    return ~parent
  }
  if (!segment.endsWith('*')) return addSegment(nodes, parent, segment)
  const text = segment.slice(0, -1)
  setFlag(nodes, parent, hasPrefixes)
  nodes.longestPrefix = Math.max(nodes.longestPrefix, text.length)
  return addEdge(nodes, parent, prefix, text)
}

function createPathTrie(nodes: TrieNodes): PathTrie {
  return {
    match: (path, found) =>
      path.charCodeAt(0) === slash ? walk(nodes, root, path, 1, found, 0) : 0,
  }
}

function walk(
  nodes: TrieNodes,
  node: number,
  path: string,
  at: number,
  found: number[],
  before: number,
): number {
  let count = before
  let end = at
  let hash = emptyHash
  for (; end < path.length; end++) {
    const code = path.charCodeAt(end)
    if (code === slash) break
    hash = hashNext(hash, code)
  }
  const last = end === path.length

  const child = findEdge(nodes, node, literal, hash, path, at, end - at)
  if (child !== none) {
    if (last) found[count++] = child
    else count = walk(nodes, child, path, end + 1, found, count)
  }
  const param = paramOf(nodes, node)
  if (param !== none && end > at) {
    if (last) found[count++] = param
    else count = walk(nodes, param, path, end + 1, found, count)
  }
  const flags = flagsOf(nodes, node)
  if (flags & hasPrefixes) count = matchPrefixes(nodes, node, path, at, found, count)
  if (flags & hasBelow) found[count++] = ~node
  return count
}

function matchPrefixes(
  nodes: TrieNodes,
  node: number,
  path: string,
  at: number,
  found: number[],
  before: number,
): number {
  let count = before
  let hash = emptyHash
  const end = Math.min(path.length, at + nodes.longestPrefix)
  for (let next = at; next < end; next++) {
    const code = path.charCodeAt(next)
    if (code === slash) break
    hash = hashNext(hash, code)
    const child = findEdge(nodes, node, prefix, hash, path, at, next + 1 - at)
    if (child !== none) found[count++] = child
  }
  return count
}
