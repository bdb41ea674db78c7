import { type Document, LineCounter, parseDocument } from 'yaml'
import type { Problem } from '../../errors.ts'

/** A YAML document of plain texts, and where its lines begin. */
interface TextDocument {
  readonly document: Document.Parsed
  readonly lineCounter: LineCounter
}

/**
 * Parses YAML by the failsafe schema, which knows only text: no `no` that is a boolean, no tag that
 * builds something. Reports a document that has more levels than the parser can read.
 */
export function parseTexts(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): TextDocument | undefined {
  const lineCounter = new LineCounter()
  const document = parseDocument(file.text, {
    lineCounter,
    schema: 'failsafe',
    prettyErrors: false,
  })
  const exhausted = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  if (exhausted === undefined) return { document, lineCounter }
  const { line } = lineCounter.linePos(exhausted.pos[0])
  const message = 'lists or mappings are nested too deeply: remove the inner ones'
  report({ file: file.name, line: Math.max(line, 1), message })
  return undefined
}
