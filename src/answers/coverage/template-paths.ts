import type { PatternNode } from '../../policy/review/pattern-tree.ts'
import { freshSegment, nodesAfter, segmentClasses } from '../../policy/review/segment-classes.ts'
import { anyText, fits, type TemplateSegment } from './path-template.ts'

type Nodes = readonly PatternNode<unknown>[]

/**
 * One path of the template for each way in which the patterns of these trees can treat its values:
 * patterns distinguish only finitely many kinds of segment at each place. Exact, but for segments
 * such as `{id}.json`, whose values are sampled. Yields at most `mostPaths`. `isComplete`: every path
 * of the template is treated like one of these.
 */
export function pathsOf(template: readonly TemplateSegment[], roots: Nodes, mostPaths: number) {
  const paths: string[] = []
  let isComplete = !template.some((segment) => typeof segment === 'object')

  function walk(nodes: Nodes, at: number, path: string): void {
    const segment = template[at]
    if (segment === undefined) {
      paths.push(path)
      return
    }
    for (const text of textsFor(segment, nodes)) {
      if (paths.length === mostPaths) {
        isComplete = false
        return
      }
      walk(nodesAfter(nodes, { text, isText: true }), at + 1, `${path}/${text}`)
    }
  }

  walk(roots, 0, '')
  return { paths, isComplete }
}

function* textsFor(segment: TemplateSegment, nodes: Nodes): Generator<string> {
  if (typeof segment === 'string') {
    yield segment
  } else if (segment === anyText) {
    for (const { text, isText } of segmentClasses(nodes, { prefix: '', mayBeEmpty: false })) {
      const name = isText ? text : freshSegment(text, nodes)
      if (name !== undefined) yield name
    }
  } else {
    const samples = ['x', '7', 'x7y'].map((value) => segment.pieces.join(value))
    const named = nodes.flatMap(({ literals }) => [...literals.keys()])
    yield* new Set([...samples, ...named.filter((text) => fits(text, segment))])
  }
}
