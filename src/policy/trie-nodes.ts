/**
 * The nodes of a path trie as rows of one flat array, which keeps what a step reads together. Edges
 * live in an open-addressing hash table keyed by parent and segment: a map per node would cost ten
 * times the memory at a million rules. Node 0 is the root and nobody's child, so 0 also says "no
 * node".
 */
export interface TrieNodes {
  /** The segment, or the beginning of one, that leads to a node. */
  labels: string[]
  /** For each node its parent, the hash of its label, its flags, its child for `:name`. */
  rows: Int32Array
  table: Int32Array
  /** How long the longest `text*` anywhere is. */
  longestPrefix: number
}

/** The node that every path starts from. */
export const root = 0
/** What a look-up answers when there is no such node. */
export const none = 0

/** What leads to a node: a whole segment, the beginning of one, or `:name`. */
export type Kind = typeof literal | typeof prefix | typeof param
/** The kind of a node that a whole segment leads to. */
export const literal = 0
/** The kind of a node that `text*` ends in. */
export const prefix = 1
const param = 2
const kindMask = 3

/** The flag of a node below which a pattern ends in `/*`. */
export const hasBelow = 4
/** The flag of a node below which patterns end in `text*`. */
export const hasPrefixes = 8

const width = 4
const parentAt = 0
const hashAt = 1
const flagsAt = 2
const paramAt = 3

/** A trie with nothing but its root. */
export function createNodes(): TrieNodes {
  return {
    labels: [''],
    rows: new Int32Array(16 * width),
    table: new Int32Array(32),
    longestPrefix: 0,
  }
}

/** The hash of the empty text. */
export const emptyHash = 0x811c9dc5 | 0

/** The hash of a text that is one character longer (FNV-1a). */
export function hashNext(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

/** The child whose label stands in `text` at `at` with exactly this length, or `none`. */
export function findEdge(
  { labels, rows, table }: TrieNodes,
  parent: number,
  kind: Kind,
  hash: number,
  text: string,
  at: number,
  length: number,
): number {
  const mask = table.length - 1
  for (let slot = firstSlot(parent, hash) & mask; ; slot = (slot + 1) & mask) {
    const node = table[slot] ?? none
    if (node === none) return none
    const row = node * width
    if (rows[row + hashAt] !== hash || rows[row + parentAt] !== parent) continue
    if (((rows[row + flagsAt] ?? 0) & kindMask) !== kind) continue
    const label = labels[node] ?? ''
    if (label.length === length && text.startsWith(label, at)) return node
  }
}

/** The child with this label, made if there is none yet. */
export function addEdge(nodes: TrieNodes, parent: number, kind: Kind, label: string): number {
  let hash = emptyHash
  for (let at = 0; at < label.length; at++) hash = hashNext(hash, label.charCodeAt(at))
  const known = findEdge(nodes, parent, kind, hash, label, 0, label.length)
  if (known !== none) return known

  const node = addNode(nodes, parent, kind, label)
  nodes.rows[node * width + hashAt] = hash
  if (nodes.labels.length * 1.5 <= nodes.table.length) insert(nodes, node)
  else rebuildTable(nodes)
  return node
}

/** The kind and the flags of a node. */
export function flagsOf({ rows }: TrieNodes, node: number): number {
  return rows[node * width + flagsAt] ?? 0
}

/** Adds `hasBelow` or `hasPrefixes` to a node. */
export function setFlag(nodes: TrieNodes, node: number, flag: number): void {
  nodes.rows[node * width + flagsAt] = flagsOf(nodes, node) | flag
}

/** The child for `:name`, or `none`. */
export function paramOf({ rows }: TrieNodes, node: number): number {
  return rows[node * width + paramAt] ?? none
}

/** The child for `:name`, made if there is none yet. */
export function addParam(nodes: TrieNodes, parent: number): number {
  const known = paramOf(nodes, parent)
  if (known !== none) return known
  const node = addNode(nodes, parent, param, '')
  nodes.rows[parent * width + paramAt] = node
  return node
}

/** Gives back what growing has reserved. Nothing is added afterwards. */
export function trim({ labels, rows, table, longestPrefix }: TrieNodes): TrieNodes {
  return {
    labels: labels.slice(),
    rows: rows.slice(0, labels.length * width),
    table,
    longestPrefix,
  }
}

function addNode(nodes: TrieNodes, parent: number, kind: Kind, label: string): number {
  const node = nodes.labels.push(label) - 1
  if (node * width === nodes.rows.length) {
    const larger = new Int32Array(nodes.rows.length * 2)
    larger.set(nodes.rows)
    nodes.rows = larger
  }
  nodes.rows[node * width + parentAt] = parent
  nodes.rows[node * width + flagsAt] = kind
  return node
}

function insert({ rows, table }: TrieNodes, node: number): void {
  const mask = table.length - 1
  const row = node * width
  let slot = firstSlot(rows[row + parentAt] ?? 0, rows[row + hashAt] ?? 0) & mask
  while (table[slot] !== none) slot = (slot + 1) & mask
  table[slot] = node
}

function rebuildTable(nodes: TrieNodes): void {
  nodes.table = new Int32Array(nodes.table.length * 2)
  for (let node = 1; node < nodes.labels.length; node++) {
    if ((flagsOf(nodes, node) & kindMask) !== param) insert(nodes, node)
  }
}

function firstSlot(parent: number, hash: number): number {
  const mixed = Math.imul(hash ^ Math.imul(parent, 0x9e3779b1), 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
