import {
  type DocumentOptions,
  LineCounter,
  type Node,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
} from 'yaml'

/** Parses a file of YAML, and finds the places of what is in it: in settings as in policies. */
export function parsePlacedYaml(
  { name: file, text }: { readonly name: string; readonly text: string },
  options: ParseOptions & DocumentOptions & SchemaOptions,
) {
  const lineCounter = new LineCounter()
  const { contents, errors, warnings } = parseDocument(text, {
    ...options,
    ...{ lineCounter, prettyErrors: false, logLevel: 'error' },
  })
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  return {
    contents,
    errors,
    warnings,
    placeAt,
    /** Of a node; `undefined` for what is not in the text. */
    placeOf(node: unknown) {
      const range = (node as Partial<Node> | null | undefined)?.range
      return range ? placeAt(range[0]) : undefined
    },
  }
}
