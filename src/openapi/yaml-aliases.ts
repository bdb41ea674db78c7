import { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node } from 'yaml'
import { tooDeep } from './json-keys.ts'
import { maxDepth, maxYamlNodes } from './limits.ts'

/** What a node has after all aliases in it are replaced. */
interface Extent {
  readonly nodes: number
  readonly depth: number
}

/** Throws, with an offset in the text. */
export type Fail = (offset: number, message: string) => never

/**
 * Replaces each alias with the node that it repeats, within the limits. The library resolves aliases
 * in quadratic time (a minute for 16,000), and without end where one is a part of what it repeats.
 */
export function replaceAliases(root: Node | null, fail: Fail): void {
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
