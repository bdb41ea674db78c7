import { nearest } from '../../kernel/suggest.ts'
import { hasMethod } from '../matching-rules.ts'

interface Call {
  readonly method: string
  readonly path: string
}

/**
 * Finds the operation that the author of a pattern probably meant: another spelling of a segment, one
 * segment more or less, a parameter in place of a text, or another method.
 */
export function createNearestOperation<Op extends Call>(
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
