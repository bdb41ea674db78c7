import type { PatternNode, PatternShape } from './pattern-tree.ts'

/**
 * One kind of segment that some patterns distinguish: the segment with exactly this text, or all
 * segments that begin with it and that no longer text or prefix of those patterns matches.
 */
export interface SegmentClass {
  readonly text: string
  readonly isText: boolean
}

/**
 * The kinds of segment that the patterns at these nodes distinguish, of those that begin with
 * `prefix`. Segments that no pattern names come first: they show a difference soonest.
 */
export function* segmentClasses(
  nodes: readonly PatternNode<unknown>[],
  { prefix, mayBeEmpty }: { readonly prefix: string; readonly mayBeEmpty: boolean },
): Generator<SegmentClass> {
  yield { text: prefix, isText: false }
  if (mayBeEmpty) yield { text: '', isText: true }
  if (prefix !== '') yield { text: prefix, isText: true }

  const texts = new Set(['', prefix])
  const beginnings = new Set([prefix])
  for (const { literals, prefixes } of nodes) {
    for (const text of literals.keys()) {
      if (texts.has(text) || !text.startsWith(prefix)) continue
      texts.add(text)
      yield { text, isText: true }
    }
    for (const text of prefixes.keys()) {
      if (beginnings.has(text) || !text.startsWith(prefix)) continue
      beginnings.add(text)
      yield { text, isText: false }
    }
  }
}

/** The kinds of segment that the pattern allows at this place. */
export function kindsAt(
  { segments, tail, prefix }: PatternShape,
  at: number,
  nodes: readonly PatternNode<unknown>[],
): Iterable<SegmentClass> {
  const segment = segments[at]
  if (segment !== undefined) return [{ text: segment, isText: true }]
  if (at < segments.length) return segmentClasses(nodes, { prefix: '', mayBeEmpty: false })
  if (at > segments.length || tail === 'below') {
    return segmentClasses(nodes, { prefix: '', mayBeEmpty: true })
  }
  return segmentClasses(nodes, { prefix, mayBeEmpty: false })
}

/** The nodes that a segment of this kind leads to. */
export function nodesAfter<Value>(
  nodes: readonly PatternNode<Value>[],
  { text, isText }: SegmentClass,
): readonly PatternNode<Value>[] {
  return nodes.flatMap(({ literals, param }) => {
    const literal = isText ? literals.get(text) : undefined
    // `:name` matches no empty segment, which a path has behind its last slash.
    const other = isText && text === '' ? undefined : param
    return [literal, other].filter((node) => node !== undefined)
  })
}

/**
 * A segment that begins with `text` and that no longer text or prefix of these nodes matches, as an
 * example of all such segments. `undefined` if there is no short one.
 */
export function freshSegment(
  text: string,
  ...sides: readonly (readonly PatternNode<unknown>[])[]
): string | undefined {
  const isSpokenOf = (segment: string) =>
    sides.some((nodes) =>
      nodes.some(({ literals, prefixes }) => {
        if (literals.has(segment)) return true
        for (let length = text.length + 1; length <= segment.length; length++) {
          if (prefixes.has(segment.slice(0, length))) return true
        }
        return false
      }),
    )
  for (const ending of endings) if (!isSpokenOf(text + ending)) return text + ending
  return undefined
}

const characters = "x7yzabcdefghijklmnopqrstuvw012345689XYZABCDEFGHIJKLMNOPQRSTUVW-_~!$&'()+,=@"
const endings: readonly string[] = [
  ...characters,
  ...Array.from(characters, (character) => `${character}${character}`),
]
