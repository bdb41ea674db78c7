/** A header or trailer line, its name in the case of the sender. */
export type Field = readonly [string, string]

export interface Head {
  readonly line: string
  readonly fields: readonly Field[]
  /** How many characters it took, its empty line included. */
  readonly length: number
}

export interface Body {
  readonly text: string
  /** What stood behind the last chunk. */
  readonly trailers: readonly Field[]
  /** How many characters it took on the wire. */
  readonly length: number
}

/** The start line and the fields of a message; `undefined` until they are all there. */
export function takeHead(text: string): Head | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [line = '', ...lines] = text.slice(0, end).split('\r\n')
  return { line, fields: lines.map(toField), length: end + 4 }
}

/** Every value under this name, whatever its case. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields
    .filter(([key]) => key.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value)
}

/** A body of this length; `undefined` until it is all there. */
export function takeSized(rest: string, length: number): Body | undefined {
  return rest.length < length ? undefined : { text: rest.slice(0, length), trailers: [], length }
}

/** A body in chunks, with its trailers; `undefined` until its end is there. */
export function takeChunked(rest: string): Body | undefined {
  let text = ''
  let at = 0
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    if (size === 0) return withTrailers(text, rest, lineEnd)
    const next = lineEnd + 2 + size + 2
    if (rest.length < next) return undefined
    text += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = next
  }
}

/** `lineEnd` is that of the last chunk, which has no data: trailers or an empty line follow. */
function withTrailers(text: string, rest: string, lineEnd: number): Body | undefined {
  const end = rest.indexOf('\r\n\r\n', lineEnd)
  if (end === -1) return undefined
  const lines = rest.slice(lineEnd + 2, Math.max(end, lineEnd + 2)).split('\r\n')
  return { text, trailers: lines.filter((line) => line !== '').map(toField), length: end + 4 }
}

function toField(line: string): Field {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
