import type { GrantTree, Marks, MethodBits } from '../review/grants.ts'
import {
  type PatternNode,
  type PatternShape,
  visitCovering,
  visitPrefixes,
} from '../review/pattern-tree.ts'
import { freshSegment, kindsAt, type SegmentClass } from '../review/segment-classes.ts'

/** What one side allows and the other does not, of the paths of one pattern. */
export interface Gain {
  readonly methods: MethodBits
  /** A call that shows it; `undefined` when the search was given up, or found no name for the path. */
  readonly example: { readonly methods: MethodBits; readonly path: string } | undefined
  /** Whether the search came to its end. If not, `methods` holds all that could not be excluded. */
  readonly certain: boolean
}

/** How many steps searches may still take. Shared by many searches, so that all together end. */
export interface Budget {
  steps: number
}

/**
 * Trees whose marks together say what is allowed: exclusions before deny before allow. As `to`, a
 * side never has both exclusions and deny rules.
 */
export type Side = readonly GrantTree[]

/** The most that one search takes of the budget. */
const stepsPerSearch = 200_000

/**
 * Looks among the paths of a pattern for one that `to` allows with one of `methods` and `from` does
 * not, for each method.
 *
 * Paths are infinitely many, but patterns tell only finitely many kinds of segment apart at each
 * place: the texts and prefixes of the patterns there, and any other text. The search walks both
 * sides at once through one of each kind. That is exact, with two exceptions, and both lean toward a
 * gain: a kind without members (if prefixes begin with every possible character) is walked all the
 * same, and when the budget is used up, what one wide rule of `from` does not cover counts.
 */
export function findGain(
  shape: PatternShape,
  methods: MethodBits,
  { from, to, budget }: { readonly from: Side; readonly to: Side; readonly budget: Budget },
): Gain | undefined {
  const wanted = methods & ~coveredBy(from, shape) & ~deniedBy(to, shape)
  if (wanted === 0) return undefined

  const fromDenies = from.some(({ hasDeny }) => hasDeny)
  const last = Math.max(0, budget.steps - stepsPerSearch)
  let found: MethodBits = 0
  let example: Gain['example']
  let outOfSteps = false

  function arrive(before: State, after: State, path: string | undefined): void {
    const gained = allowedAtEnd(after) & ~allowedAtEnd(before) & wanted
    found |= gained
    if (gained !== 0 && path !== undefined) example ??= { methods: gained, path }
  }

  /** Whether anything below this place can still be a gain. */
  function isOpen(before: State, after: State): boolean {
    const kept = before.pass | (fromDenies ? 0 : before.allow)
    const most = after.nodes.length > 0 ? after.pass | ~after.deny : allowedBy(after)
    return (wanted & ~found & ~kept & most) !== 0
  }

  /** `at` is the index of the segment that comes next; a slash has just been passed. */
  function walk(before: State, after: State, at: number, path: string | undefined): void {
    passSlash(before)
    passSlash(after)
    const nodes = [...after.nodes, ...(fromDenies ? before.nodes : [])]
    for (const kind of kindsAt(shape, at, nodes)) {
      if (!isOpen(before, after)) return
      if (budget.steps <= last) {
        outOfSteps = true
        return
      }
      budget.steps--
      const nextBefore = step(before, kind)
      const nextAfter = step(after, kind)
      const name = kind.isText ? kind.text : freshSegment(kind.text, before.nodes, after.nodes)
      const nextPath = path === undefined || name === undefined ? undefined : `${path}/${name}`
      const isEnd = shape.tail === 'end' && at === shape.segments.length - 1
      const isFree = at >= shape.segments.length
      if (isEnd || isFree) arrive(nextBefore, nextAfter, nextPath)
      // Where no pattern leads on, longer paths are allowed as this one is. An empty segment is last.
      const leadsOn = nextBefore.nodes.length > 0 || nextAfter.nodes.length > 0
      const isEmpty = kind.isText && kind.text === ''
      if (!isEnd && (!isFree || (leadsOn && !isEmpty))) {
        walk(nextBefore, nextAfter, at + 1, nextPath)
      }
    }
  }

  walk(start(from), start(to), 0, '')
  if (outOfSteps) return { methods: wanted, example, certain: false }
  return found === 0 ? undefined : { methods: found, example, certain: example !== undefined }
}

/** The nodes that a side has reached after some segments, and the marks that hold for every path from there. */
interface State extends Marks {
  nodes: readonly PatternNode<Marks>[]
}

function start(side: Side): State {
  return { allow: 0, deny: 0, pass: 0, nodes: side.map(({ root }) => root) }
}

function add(to: Marks, marks: Marks | undefined): void {
  if (marks === undefined) return
  to.allow |= marks.allow
  to.deny |= marks.deny
  to.pass |= marks.pass
}

function passSlash(state: State): void {
  for (const { below } of state.nodes) add(state, below)
}

function step(state: State, { text, isText }: SegmentClass): State {
  const { allow, deny, pass } = state
  const next: Marks & { nodes: PatternNode<Marks>[] } = { allow, deny, pass, nodes: [] }
  for (const node of state.nodes) {
    visitPrefixes(node, text, (marks) => add(next, marks))
    const literal = isText ? node.literals.get(text) : undefined
    if (literal !== undefined) next.nodes.push(literal)
    if (node.param !== undefined && !(isText && text === '')) next.nodes.push(node.param)
  }
  return next
}

function allowedBy({ allow, deny, pass }: Marks): MethodBits {
  return pass | (allow & ~deny)
}

function allowedAtEnd(state: State): MethodBits {
  const marks = { allow: state.allow, deny: state.deny, pass: state.pass }
  for (const { end } of state.nodes) add(marks, end)
  return allowedBy(marks)
}

/** The methods with which a side allows this path. */
export function allowedAt(side: Side, path: string): MethodBits {
  let state = start(side)
  for (const text of path.split('/').slice(1)) {
    passSlash(state)
    state = step(state, { text, isText: true })
  }
  return allowedAtEnd(state)
}

/** The methods with which single rules or exclusions of a side allow every path of the pattern. */
function coveredBy(side: Side, shape: PatternShape): MethodBits {
  const marks: Marks = { allow: 0, deny: 0, pass: 0 }
  for (const { root } of side) visitCovering(root, shape, (each) => add(marks, each))
  return marks.pass | (side.some(({ hasDeny }) => hasDeny) ? 0 : marks.allow)
}

/** The methods with which single deny rules of a side deny every path of the pattern. */
function deniedBy(side: Side, shape: PatternShape): MethodBits {
  if (!side.some(({ hasDeny }) => hasDeny)) return 0
  const marks: Marks = { allow: 0, deny: 0, pass: 0 }
  for (const { root } of side) visitCovering(root, shape, (each) => add(marks, each))
  return marks.deny
}
