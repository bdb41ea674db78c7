import {
  addEdge,
  addParam,
  addRoot,
  createNodes,
  emptyHash,
  findEdge,
  flagsAt,
  hasBelow,
  hashNext,
  hasPrefixes,
  isEnd,
  literal,
  none,
  paramAt,
  prefix,
  root,
  setFlag,
  type TrieNodes,
  trim,
} from './trie-nodes.ts'

/**
 * Path patterns as a tree of segments, to be filled. A pattern is known by a number: that of the node
 * it ends in, or its complement (`~node`) for one that ends there in `/*`. `add` takes what
 * `patternProblem` has nothing against.
 */
export function createPathTrieBuilder() {
  const nodes = createNodes()
  return {
    add(pattern: string, from = root) {
      let node = from
      let at = 1
      for (let end = pattern.indexOf('/', at); end !== -1; end = pattern.indexOf('/', at)) {
        node = addSegment(nodes, node, pattern.slice(at, end))
        at = end + 1
      }
      return addLastSegment(nodes, node, pattern.slice(at))
    },
    /** One more root, below which patterns are apart from all others. */
    addRoot: () => addRoot(nodes),
    /** What has been added, for `createPathTrie`. Nothing is added afterwards. */
    nodes: () => trim(nodes),
    /** The trie of what has been added. */
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
  if (!segment.endsWith('*')) {
    const node = addSegment(nodes, parent, segment)
    setFlag(nodes, node, isEnd)
    return node
  }
  const text = segment.slice(0, -1)
  setFlag(nodes, parent, hasPrefixes)
  nodes.longestPrefix = Math.max(nodes.longestPrefix, text.length)
  return addEdge(nodes, parent, prefix, text)
}

/** The trie of these nodes. */
export function createPathTrie(nodes: TrieNodes) {
  const { words, longestPrefix } = nodes

  function walk(
    from: number,
    path: string,
    start: number,
    found: number[],
    before: number,
  ): number {
    let node = from
    let at = start
    let count = before
    for (;;) {
      let end = at
      let hash = emptyHash
      for (; end < path.length; end++) {
        const code = path.charCodeAt(end)
        if (code === slash) break
        hash = hashNext(hash, code)
      }
      const child = findEdge(nodes, node, literal, hash, path, at, end - at)
      const param = end > at ? (words[node + paramAt] as number) : none
      const around = (words[node + flagsAt] as number) & (hasBelow | hasPrefixes)
      if (end === path.length) {
        if (child !== none && (words[child + flagsAt] as number) & isEnd) found[count++] = child
        if (param !== none && (words[param + flagsAt] as number) & isEnd) found[count++] = param
        return around === 0 ? count : matchAround(node, path, at, found, count)
      }
      if (around === 0 && (child === none || param === none)) {
        // Only one way on: most of a walk, and it needs no stack.
        node = child === none ? param : child
        if (node === none) return count
        at = end + 1
        continue
      }
      if (child !== none) count = walk(child, path, end + 1, found, count)
      if (param !== none) count = walk(param, path, end + 1, found, count)
      return around === 0 ? count : matchAround(node, path, at, found, count)
    }
  }

  /** The patterns that end in `text*` or `/*` below a node, whatever else the path has. */
  function matchAround(
    node: number,
    path: string,
    at: number,
    found: number[],
    before: number,
  ): number {
    const flags = words[node + flagsAt] as number
    let count = before
    let hash = emptyHash
    const end = flags & hasPrefixes ? Math.min(path.length, at + longestPrefix) : at
    for (let next = at; next < end; next++) {
      const code = path.charCodeAt(next)
      if (code === slash) break
      hash = hashNext(hash, code)
      const child = findEdge(nodes, node, prefix, hash, path, at, next + 1 - at)
      if (child !== none) found[count++] = child
    }
    if (flags & hasBelow) found[count++] = ~node
    return count
  }

  return {
    /**
     * Writes the numbers of the patterns that a path matches to the front of `found` and returns how
     * many: literal segments before parameters before `*`. Reads no further into a path than the
     * patterns go, visits each node at most once, so that nothing backtracks, and allocates nothing.
     */
    match: (path: string, found: number[]) =>
      path.charCodeAt(0) === slash ? walk(root, path, 1, found, 0) : 0,
    /** Matches below another root, and adds to the numbers that `found` has already. */
    matchBelow: (from: number, path: string, found: number[], before: number) =>
      path.charCodeAt(0) === slash ? walk(from, path, 1, found, before) : before,
  }
}
