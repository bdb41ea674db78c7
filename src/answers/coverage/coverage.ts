import type { Admission } from '../../admission/verdict.ts'
import { nearest } from '../../kernel/suggest.ts'
import type { CompiledSet } from '../../policy/engine/decision.ts'
import { shapeOf } from '../../policy/review/pattern-tree.ts'
import type { Exclusion, Origin, Rule } from '../../policy/rule/rule.ts'
import { hasMethod } from '../matching-rules.ts'
import {
  createOperationAnswers,
  type DocumentedOperation,
  type OperationAccess,
} from './operation-access.ts'
import { createOperationTree, type OperationTree } from './operation-tree.ts'
import { parseTemplate } from './path-template.ts'

/** Lines of a policy that name the same method and path. */
export interface Granted {
  readonly by: 'rule' | 'exclusion'
  readonly method: string
  readonly path: string
  readonly origins: readonly Origin[]
  /** The roles of the rules, in the order of the lines. */
  readonly roles: readonly string[]
}

/** Lines that match no operation. */
interface UnmatchedGrant<Op> extends Granted {
  readonly nearest?: Op
  /** The path starts unlike every operation, so it probably belongs to another service. */
  readonly isOutside: boolean
}

/** Rules that end in `*` and match operations. */
interface PrefixRule extends Granted {
  /** How many operations have a path that they match. */
  readonly operations: number
}

/** OpenAPI documents and a policy, compared both ways. */
export interface Coverage<Op> {
  readonly operations: readonly OperationAccess<Op>[]
  readonly unmatched: readonly UnmatchedGrant<Op>[]
  readonly prefixRules: readonly PrefixRule[]
  /** Whether rules were compared with operations: not when Casbin evaluates the model. */
  readonly areRulesCompared: boolean
  /** What all paths of the operations start with; empty if they have nothing in common. */
  readonly commonPath: string
}

/** Nearest operations are looked for in the first lines: more than a person reads. */
const mostNearest = 1000

/**
 * Compares the operations of OpenAPI documents with what the gateway allows: who may call each
 * operation, and which rules and exclusions match no operation. Pure.
 */
export function coverOperations<Op extends DocumentedOperation>(
  operations: readonly Op[],
  { admission, policies }: { readonly admission: Admission; readonly policies: CompiledSet },
): Coverage<Op> {
  const { set } = policies
  const tree = createOperationTree(operations)
  const answer = createOperationAnswers(admission, { policies, tree })
  const areRulesCompared = set.model.casbin === undefined
  const own = new Set(admission.endpoints.map(({ allow, path }) => `${allow} ${path}`))
  const grants = [
    ...(areRulesCompared ? grouped('rule', set.rules) : []),
    ...grouped('exclusion', set.exclusions).filter(
      ({ method, path }) => !own.has(`${method} ${path}`),
    ),
  ].map((granted) => ({ ...granted, operations: meeting(granted, tree) }))
  const nearestOperation = createNearestOperation(operations)
  const unmatched = grants.filter((granted) => granted.operations === 0)
  const commonPath = commonPathOf(operations)

  return {
    operations: operations.map(answer),
    unmatched: unmatched.map(({ operations: _, ...granted }, at) => {
      const nearest = at < mostNearest ? nearestOperation(granted) : undefined
      const isOutside = nearest === undefined && !`${granted.path}/`.startsWith(`${commonPath}/`)
      return { ...granted, isOutside, ...(nearest !== undefined && { nearest }) }
    }),
    prefixRules: grants.filter((granted) => granted.path.endsWith('*') && granted.operations > 0),
    areRulesCompared,
    commonPath,
  }
}

function commonPathOf(operations: readonly DocumentedOperation[]): string {
  const [first = [], ...others] = operations.map(({ path }) => parseTemplate(path))
  const length = first.findIndex((segment, at) => {
    return typeof segment !== 'string' || others.some((other) => other[at] !== segment)
  })
  const common = length === -1 ? first : first.slice(0, length)
  return common.map((segment) => `/${String(segment)}`).join('')
}

function grouped(by: Granted['by'], lines: readonly (Rule | Exclusion)[]): readonly Granted[] {
  const groups = Map.groupBy(lines, ({ method, path }) => `${method} ${path}`)
  return Array.from(groups.values(), (group) => {
    const { method = '', path = '' } = group[0] ?? {}
    const roles = group.flatMap((line) => ('roleKey' in line ? [line.roleKey] : []))
    return {
      by,
      method,
      path,
      origins: group.map(({ origin }) => origin),
      roles: [...new Set(roles)],
    }
  })
}

function meeting<Op extends DocumentedOperation>(
  granted: Granted,
  tree: OperationTree<Op>,
): number {
  const met = tree.meeting(shapeOf(granted.path))
  return met.filter((operation) => hasMethod(granted, operation.method)).length
}

interface Call {
  readonly method: string
  readonly path: string
}

/**
 * Finds the operation that the author of a pattern probably meant: another spelling of a segment, one
 * segment more or less, a parameter in place of a text, or another method.
 */
function createNearestOperation<Op extends Call>(
  operations: readonly Op[],
): (pattern: Call) => Op | undefined {
  const candidates = operations.map((operation) => {
    return { operation, segments: segmentsOf(operation.path) }
  })
  const byLength = Map.groupBy(candidates, ({ segments }) => segments.length)
  const isSimilar = createSimilarity()

  return ({ method, path }) => {
    const wanted = segmentsOf(path)
    let best: Op | undefined
    let least = farthest
    for (const length of [wanted.length, wanted.length + 1, wanted.length - 1]) {
      for (const { operation, segments } of byLength.get(length) ?? []) {
        const methodCost = hasMethod({ method }, operation.method) ? 0 : slight
        const cost = methodCost + distance(wanted, segments, isSimilar)
        if (cost >= least) continue
        least = cost
        best = operation
      }
    }
    return best
  }
}

/** The cost of a small difference; of one segment more or less; and where similarity ends. */
const slight = 0.5
const oneSegment = 1
const farthest = 1.5

const parameter = '{}'

function segmentsOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((segment) => (/^:|^\{[^{}]*\}$|\*$/.test(segment) ? parameter : segment))
}

type IsSimilar = (a: string, b: string) => boolean

function distance(from: readonly string[], to: readonly string[], isSimilar: IsSimilar): number {
  const skip = from.length - to.length
  if (skip !== 0) {
    const [short, long] = skip < 0 ? [from, to] : [to, from]
    let at = 0
    while (at < short.length && short[at] === long[at]) at++
    const isRestEqual = short.slice(at).every((segment, index) => segment === long[at + 1 + index])
    return isRestEqual ? oneSegment : farthest
  }
  let cost = 0
  for (const [at, segment] of from.entries()) {
    const other = to[at] ?? ''
    if (segment === other) continue
    const isClose = segment === parameter || other === parameter || isSimilar(segment, other)
    cost += isClose ? slight : farthest
    if (cost >= farthest) return farthest
  }
  return cost
}

/** Remembers pairs, which come again and again. */
function createSimilarity(): IsSimilar {
  const known = new Map<string, boolean>()
  return (a, b) => {
    const key = `${a}/${b}`
    const before = known.get(key)
    if (before !== undefined) return before
    const isSimilar = nearest(a, [b]) !== undefined
    known.set(key, isSimilar)
    return isSimilar
  }
}
