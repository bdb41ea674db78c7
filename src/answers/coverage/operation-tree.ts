import type { PatternShape } from '../../policy/review/pattern-tree.ts'
import { anyText, fits, type Mixed, parseTemplate, type TemplateSegment } from './path-template.ts'

/** Operations by the segments of their paths. */
interface Node<Op> {
  readonly texts: Map<string, Node<Op>>
  /** Mixed children with the longest texts first, because they are the most specific. */
  mixed: readonly MixedChild<Op>[]
  /** Mixed children by text, while the tree grows. */
  readonly mixedByText: Map<string, MixedChild<Op>>
  any: Node<Op> | undefined
  readonly ends: Op[]
}

interface MixedChild<Op> {
  readonly segment: Mixed
  readonly node: Node<Op>
}

/** More than any real document has beside each other; each one costs time for each path. */
const mostMixed = 200

/** Finds the operations of a path, and those that a pattern of a policy concerns. */
export interface OperationTree<Op> {
  /**
   * The operations with this method that a path belongs to. OpenAPI 3.0, Path Templating: paths
   * without parameters come first.
   */
  readonly ownersOf: (method: string, path: string) => readonly Op[]
  /** The operations that have a path which the pattern matches, whatever the method. */
  readonly meeting: (shape: PatternShape) => readonly Op[]
}

export function createOperationTree<Op extends { readonly method: string; readonly path: string }>(
  operations: readonly Op[],
): OperationTree<Op> {
  const root = createNode<Op>()
  for (const operation of operations) {
    let node = root
    for (const segment of parseTemplate(operation.path)) node = child(node, segment)
    node.ends.push(operation)
  }
  sortMixed(root)

  function owners(node: Node<Op>, rest: readonly string[], method: string): readonly Op[] {
    const [segment, ...more] = rest
    if (segment === undefined) return node.ends.filter((each) => each.method === method)
    for (const next of childrenFor(node, segment)) {
      const found = owners(next, more, method)
      if (found.length > 0) return found
    }
    return []
  }

  return {
    ownersOf: (method, path) => owners(root, path.split('/').slice(1), method),
    meeting(shape) {
      const found: Op[] = []
      meet(root, shape, 0, (operation) => found.push(operation))
      return found
    },
  }
}

function createNode<Op>(): Node<Op> {
  return { texts: new Map(), mixed: [], mixedByText: new Map(), any: undefined, ends: [] }
}

function child<Op>(node: Node<Op>, segment: TemplateSegment): Node<Op> {
  if (segment === anyText) {
    node.any ??= createNode()
    return node.any
  }
  if (typeof segment === 'string') {
    const known = node.texts.get(segment) ?? createNode<Op>()
    node.texts.set(segment, known)
    return known
  }
  const text = segment.pieces.join('{}')
  const known = node.mixedByText.get(text) ?? { segment, node: createNode<Op>() }
  node.mixedByText.set(text, known)
  return known.node
}

function sortMixed<Op>(node: Node<Op>): void {
  node.mixed = [...node.mixedByText.values()].sort(
    (a, b) => textLength(b.segment) - textLength(a.segment),
  )
  for (const each of childrenThat(node, () => true)) sortMixed(each)
}

function textLength({ pieces }: Mixed): number {
  return pieces.join('').length
}

/** The nodes that a segment of a path leads to, the most specific first. */
function* childrenFor<Op>(node: Node<Op>, segment: string): Generator<Node<Op>> {
  const text = node.texts.get(segment)
  if (text !== undefined) yield text
  for (const each of node.mixed.slice(0, mostMixed))
    if (fits(segment, each.segment)) yield each.node
  if (node.any !== undefined && segment !== '') yield node.any
}

type Visit<Op> = (operation: Op) => void

function meet<Op>(node: Node<Op>, shape: PatternShape, at: number, visit: Visit<Op>): void {
  const { segments, tail, prefix } = shape
  if (at < segments.length) {
    const segment = segments[at]
    const next =
      segment === undefined ? childrenThat(node, (text) => text !== '') : childrenFor(node, segment)
    for (const each of next) meet(each, shape, at + 1, visit)
  } else if (tail === 'end') {
    for (const operation of node.ends) visit(operation)
  } else {
    for (const each of childrenThat(node, (text) => text.startsWith(prefix), prefix))
      visitAll(each, visit)
  }
}

/** The children with a text that fulfills the condition, and those that can have one with the prefix. */
function* childrenThat<Op>(
  { texts, mixed, any }: Node<Op>,
  isWanted: (text: string) => boolean,
  prefix = '',
): Generator<Node<Op>> {
  for (const [text, node] of texts) if (isWanted(text)) yield node
  for (const { segment, node } of mixed) {
    const [first = ''] = segment.pieces
    if (first.startsWith(prefix) || prefix.startsWith(first)) yield node
  }
  if (any !== undefined) yield any
}

function visitAll<Op>(node: Node<Op>, visit: Visit<Op>): void {
  for (const operation of node.ends) visit(operation)
  for (const each of childrenThat(node, () => true)) visitAll(each, visit)
}
