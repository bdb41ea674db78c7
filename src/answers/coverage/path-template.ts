import { canonicalPath, everyAllowance } from '../../policy/rule/canonical-path.ts'

/**
 * A segment of a path template: a text, one parameter (`{id}`), or texts with parameters between them
 * (`{id}.json`).
 */
export type TemplateSegment = string | typeof anyText | Mixed

export const anyText: unique symbol = Symbol('any text')

/** The texts around the parameters of one segment; there is one parameter between every two. */
export interface Mixed {
  readonly pieces: readonly string[]
}

/** The segments of a template such as `/orders/{id}`, spelled as request paths are. */
export function parseTemplate(path: string): readonly TemplateSegment[] {
  return path
    .split('/')
    .slice(1)
    .map((segment) => {
      const pieces = segment.split(/\{[^{}]*\}/).map(spell)
      if (pieces.length === 1) return spell(segment)
      return pieces.every((piece) => piece === '') && pieces.length === 2 ? anyText : { pieces }
    })
}

/** As a client sends it. What has no canonical spelling stays, and the gateway refuses it. */
function spell(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(/[^!-~]|[\\?#]/gu, (character) => encodeURIComponent(character))
  return canonicalPath(`/${escaped}`, everyAllowance)?.slice(1) ?? text
}

/** Whether a segment of a path fits a segment of a template. */
export function fits(segment: string, template: TemplateSegment): boolean {
  if (typeof template === 'string') return segment === template
  if (template === anyText) return segment !== ''
  return fitsPieces(segment, template.pieces)
}

/** One character at least between two pieces. Looks for each piece once: no backtracking. */
function fitsPieces(segment: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = segment.indexOf(piece, at + 1)
    if (found === -1) return false
    at = found + piece.length
  }
  return at + 1 <= segment.length - last.length
}
