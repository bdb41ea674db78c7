import { LineCounter, type Node, parseDocument } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'

/** Reports a problem at the place of a node, or at the beginning. */
export type Complain = (node: unknown, message: string) => undefined

interface TextPlace {
  readonly file: string
  readonly line: number
  readonly column: number
}

/**
 * Parses YAML by the failsafe schema, which knows only text: no `no` that is a boolean, no tag that
 * builds something. Reports what is no YAML, and a document that has more levels than the parser can
 * read; `undefined` then.
 */
export function parseTexts(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
) {
  const lineCounter = new LineCounter()
  const { contents, errors, warnings } = parseDocument(file.text, {
    lineCounter,
    schema: 'failsafe',
    prettyErrors: false,
  })
  const placeOf = (node: unknown): TextPlace => {
    const { line, col } = lineCounter.linePos((node as Partial<Node> | null)?.range?.[0] ?? 0)
    return { file: file.name, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const exhausted = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  if (exhausted !== undefined) {
    const { line } = placeOf({ range: exhausted.pos })
    const message = 'lists or mappings are nested too deeply: remove the inner ones'
    report({ file: file.name, line, message })
    return undefined
  }
  const complain: Complain = (node, message) => {
    report({ ...placeOf(node), message })
  }
  for (const { pos, message } of [...errors, ...warnings]) complain({ range: pos }, message)
  return errors.length > 0 ? undefined : { contents, placeOf, complain }
}
