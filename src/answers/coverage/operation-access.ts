import type { Admission } from '../../admission/verdict.ts'
import { removedPaths } from '../../kernel/endpoints.ts'
import type { CompiledSet } from '../../policy/engine/decision.ts'
import { createNode, type PatternNode, place, shapeOf } from '../../policy/review/pattern-tree.ts'
import { freshSegment, nodesAfter, segmentClasses } from '../../policy/review/segment-classes.ts'
import { type AnsweredCall, type CallAccess, createCallAnswers } from './call-access.ts'
import type { OperationTree } from './operation-tree.ts'
import { anyText, fits, parseTemplate, type TemplateSegment } from './path-template.ts'

/** What the answers need of an operation of an OpenAPI document. */
export interface DocumentedOperation {
  readonly method: string
  /** With the base path; parameters as `{name}`. */
  readonly path: string
  readonly declaresSecurity: boolean
}

/** Who may call an operation with some of its values, with a path as an example. */
export interface ValuesAccess extends AnsweredCall {
  readonly example: string
}

/** Who may call an operation. */
export interface OperationAccess<Op> {
  readonly operation: Op
  /** One entry for each kind of access that some value of its parameters has, the widest first. */
  readonly kinds: readonly ValuesAccess[]
  /** Whether these are all: not when values or paths were sampled. */
  readonly isComplete: boolean
}

/** More than any real policy distinguishes below one path, and what all operations share. */
const mostPaths = 1000
const mostPathsInAll = 1_000_000
/** For the operations that come after the shared ones are used up. */
const fewPaths = 5

const widestFirst: readonly CallAccess[] = [
  'public',
  'authenticated',
  'roles',
  'admin',
  'unserved',
  'refused',
]

/**
 * Answers for every operation who may call it, as the gateway decides. A value of a parameter that
 * makes the path one of another operation, or of an endpoint of the gateway, is not counted.
 */
export function createOperationAnswers<Op extends DocumentedOperation>(
  admission: Admission,
  { policies, tree }: { readonly policies: CompiledSet; readonly tree: OperationTree<Op> },
): (operation: Op) => OperationAccess<Op> {
  const { answer, patterns } = createCallAnswers(admission, policies)
  const roots = [surfaceOf(admission, policies), ...(patterns === undefined ? [] : [patterns])]

  let left = mostPathsInAll
  return (operation) => {
    const { method, path } = operation
    const template = parseTemplate(path)
    const most = Math.min(mostPaths, Math.max(fewPaths, left))
    const { paths, isComplete } = pathsOf(template, roots, most)
    left -= paths.length
    const isExact = template.every((segment) => typeof segment === 'string')
    const owned = isExact
      ? paths
      : paths.filter((each) => tree.ownersOf(method, each).includes(operation))
    const found = new Map<CallAccess, ValuesAccess>()
    let isUndecided = false
    // Samples of overlapping templates may all belong to others.
    for (const example of owned.length === 0 ? paths : owned) {
      const answered = answer(method, example)
      isUndecided ||= answered === undefined
      if (answered === undefined || (!isExact && isOwn(answered))) continue
      if (!found.has(answered.access)) found.set(answered.access, { ...answered, example })
    }
    const kinds = widestFirst.flatMap((access) => found.get(access) ?? [])
    const isKnown = isExact || patterns !== undefined
    return { operation, kinds, isComplete: isComplete && isKnown && !isUndecided }
  }
}

/** The gateway answers this path itself, or refuses it to everyone. */
function isOwn({ verdict }: AnsweredCall): boolean {
  return verdict.endpoint !== undefined || verdict.refusal === 'no-such-endpoint'
}

/** Everything outside the rules that treats paths differently. */
function surfaceOf(admission: Admission, { set }: CompiledSet): PatternNode<true> {
  const root = createNode<true>()
  const add = (path: string) => place(root, shapeOf(path), () => true)
  for (const { path } of set.exclusions) add(path)
  for (const path of [...admission.routes, ...admission.endpoints].map((each) => each.path)) {
    if (path.startsWith('/')) place(root, literalShape(path), () => true)
  }
  for (const path of removedPaths) add(path)
  return root
}

function literalShape(path: string) {
  return { segments: path.split('/').slice(1), tail: 'end', prefix: '' } as const
}

type Nodes = readonly PatternNode<unknown>[]

/**
 * One path of the template for each way in which the patterns of these trees can treat its values:
 * patterns distinguish only finitely many kinds of segment at each place. Exact, but for segments
 * such as `{id}.json`, whose values are sampled. Yields at most `mostPaths`. `isComplete`: every path
 * of the template is treated like one of these.
 */
function pathsOf(template: readonly TemplateSegment[], roots: Nodes, mostPaths: number) {
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
