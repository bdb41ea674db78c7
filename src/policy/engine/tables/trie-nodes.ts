/**
 * The nodes of a path trie in one block of memory, each with its label: a step along a path touches
 * one place for the edge and one for the node. A map and a string for each node would take ten times
 * the memory at a million rules. A node is identified by its offset. The root has offset 0 and is
 * never a child, so 0 also means "no node". Labels are ASCII.
 */
export interface TrieNodes {
  /** For each node its parent, its flags with the length of its label, its child for `:name`, and
   * its label, four characters to a word. */
  words: Int32Array
  /** The memory of the words, by characters. */
  bytes: Uint8Array
  /** How many of the words are taken. */
  taken: number
  /** A hash table of pairs: what an edge hashes to, and the node it leads to. */
  edges: Int32Array
  edgeCount: number
  /** How long the longest `text*` anywhere is. */
  longestPrefix: number
}

/** The node that every path starts from. */
export const root = 0
/** The result of a look-up that finds no node. */
export const none = 0

/** What leads to a node: a whole segment, the beginning of one, or `:name`. */
type Kind = typeof literal | typeof prefix | typeof param
/** The kind of a node that a whole segment leads to. */
export const literal = 0
/** The kind of a node that `text*` ends in. */
export const prefix = 1
const param = 2
const kindMask = 3

/** The flag of a node that a pattern ends in. */
export const isEnd = 4
/** The flag of a node below which a pattern ends in `/*`. */
export const hasBelow = 8
/** The flag of a node below which patterns end in `text*`. */
export const hasPrefixes = 16
const lengthShift = 5
const lengthMask = 0x7ff
/** The upper half of the flags: one bit for each sixteenth of the hashes that a child may have. */
const childShift = 16

/** Where in a node its parent, its flags, its child for `:name` and its label are. */
const parentAt = 0
/** The place of the flags in a node. */
export const flagsAt = 1
/** The place of the child for `:name` in a node, or `none`. */
export const paramAt = 2
const labelAt = 3

/** A trie with nothing but its root. */
export function createNodes(): TrieNodes {
  const words = new Int32Array(64)
  return {
    words,
    bytes: new Uint8Array(words.buffer),
    taken: labelAt,
    edges: new Int32Array(64),
    edgeCount: 0,
    longestPrefix: 0,
  }
}

/** The hash of the empty text. */
export const emptyHash = 0x811c9dc5 | 0

/** The hash of a text that is one character longer (FNV-1a). */
export function hashNext(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

/** The child whose label is in `text` at `at` with exactly this length, or `none`. */
export function findEdge(
  { words, bytes, edges }: TrieNodes,
  parent: number,
  kind: Kind,
  hash: number,
  text: string,
  at: number,
  length: number,
): number {
  // Most failing look-ups end here, without touching the table.
  if (((words[parent + flagsAt] as number) & childBit(hash)) === 0) return none
  const edge = edgeHash(parent, kind, hash)
  const mask = edges.length - 2
  for (let slot = (edge << 1) & mask; ; slot = (slot + 2) & mask) {
    const node = edges[slot + 1] as number
    if (node === none) return none
    if (edges[slot] !== edge || words[node + parentAt] !== parent) continue
    const flags = words[node + flagsAt] as number
    if ((flags & kindMask) !== kind || ((flags >>> lengthShift) & lengthMask) !== length) continue
    let same = 0
    for (let byte = (node + labelAt) * 4; same < length; same++, byte++) {
      if (bytes[byte] !== text.charCodeAt(at + same)) break
    }
    if (same === length) return node
  }
}

/** One more node to start from, which no other node leads to. */
export function addRoot(nodes: TrieNodes): number {
  return addNode(nodes, none, literal, '')
}

/** The child with this label, created if missing. */
export function addEdge(nodes: TrieNodes, parent: number, kind: Kind, label: string): number {
  let hash = emptyHash
  for (let at = 0; at < label.length; at++) hash = hashNext(hash, label.charCodeAt(at))
  const known = findEdge(nodes, parent, kind, hash, label, 0, label.length)
  if (known !== none) return known

  const node = addNode(nodes, parent, kind, label)
  if (++nodes.edgeCount * 3 > nodes.edges.length) growEdges(nodes)
  insert(nodes.edges, edgeHash(parent, kind, hash), node)
  setFlag(nodes, parent, childBit(hash))
  return node
}

/** The child for `:name`, created if missing. */
export function addParam(nodes: TrieNodes, parent: number): number {
  const known = nodes.words[parent + paramAt] ?? none
  if (known !== none) return known
  const node = addNode(nodes, parent, param, '')
  nodes.words[parent + paramAt] = node
  return node
}

/** Adds flags to a node. */
export function setFlag({ words }: TrieNodes, node: number, flag: number): void {
  words[node + flagsAt] = (words[node + flagsAt] ?? 0) | flag
}

/** Gives back what growing has reserved. Nothing is added afterwards. */
export function trim(nodes: TrieNodes): TrieNodes {
  const words = nodes.words.slice(0, nodes.taken)
  return { ...nodes, words, bytes: new Uint8Array(words.buffer) }
}

function addNode(nodes: TrieNodes, parent: number, kind: Kind, label: string): number {
  const node = nodes.taken
  nodes.taken += labelAt + Math.ceil(label.length / 4)
  if (nodes.taken > nodes.words.length) {
    const larger = new Int32Array(Math.max(nodes.taken, nodes.words.length * 2))
    larger.set(nodes.words)
    nodes.words = larger
    nodes.bytes = new Uint8Array(larger.buffer)
  }
  nodes.words[node + parentAt] = parent
  nodes.words[node + flagsAt] = kind | (label.length << lengthShift)
  for (let at = 0; at < label.length; at++) {
    nodes.bytes[(node + labelAt) * 4 + at] = label.charCodeAt(at)
  }
  return node
}

function childBit(hash: number): number {
  return 1 << (childShift + ((hash ^ (hash >>> 16)) & 15))
}

function edgeHash(parent: number, kind: Kind, hash: number): number {
  const mixed = Math.imul(hash ^ Math.imul(parent * 2 + kind, 0x9e3779b1), 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

function insert(edges: Int32Array, edge: number, node: number): void {
  const mask = edges.length - 2
  let slot = (edge << 1) & mask
  while (edges[slot + 1] !== none) slot = (slot + 2) & mask
  edges[slot] = edge
  edges[slot + 1] = node
}

function growEdges(nodes: TrieNodes): void {
  const { edges } = nodes
  const larger = new Int32Array(edges.length * 2)
  for (let slot = 0; slot < edges.length; slot += 2) {
    const node = edges[slot + 1] ?? none
    if (node !== none) insert(larger, edges[slot] ?? 0, node)
  }
  nodes.edges = larger
}
