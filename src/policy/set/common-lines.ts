import type { PolicyFile } from './policy-set.ts'

/** A line of one of several files. Valid only while it is being taken. */
export interface TableLine {
  readonly file: string
  readonly line: number
  readonly text: string
}

/** Takes the lines of two policies, in the order of each. */
interface LineTaker {
  /** A line that both have. */
  readonly common: (from: TableLine, to: TableLine) => void
  readonly onlyFrom: (line: TableLine) => void
  readonly onlyTo: (line: TableLine) => void
}

/** How far to look for a line that both have. */
const window = 256

/**
 * Walks through two policies side by side and pairs equal lines, as long as it finds one soon enough
 * after a difference. Lines in another order may remain unpaired. Returns whether at most `most`
 * lines of the second policy did.
 */
export function pairLines(
  from: readonly PolicyFile[],
  to: readonly PolicyFile[],
  { common, onlyFrom, onlyTo, most }: LineTaker & { readonly most: number },
): boolean {
  const [old, young] = [new LineCursor(from), new LineCursor(to)]
  let unpaired = 0
  while (!old.isDone || !young.isDone) {
    if (!old.isDone && !young.isDone && old.text === young.text) {
      common(old, young)
      old.advance()
      young.advance()
      continue
    }
    const skipped = nextCommon(old.ahead(window), young.ahead(window))
    unpaired += skipped.to
    if (unpaired > most) return false
    for (let left = skipped.from; left > 0; left--, old.advance()) onlyFrom(old)
    for (let left = skipped.to; left > 0; left--, young.advance()) onlyTo(young)
  }
  return true
}

/** How many lines come before the nearest pair of equal lines that are neither blank nor comments. */
function nextCommon(
  from: readonly string[],
  to: readonly string[],
): { readonly from: number; readonly to: number } {
  const places = new Map<string, number>()
  for (const [at, text] of from.entries()) {
    if (isRule(text) && !places.has(text)) places.set(text, at)
  }
  let found = { from: from.length, to: to.length }
  for (const [at, text] of to.entries()) {
    const place = places.get(text)
    if (place !== undefined && place + at < found.from + found.to) found = { from: place, to: at }
  }
  return found
}

function isRule(text: string): boolean {
  const first = text.trimStart()[0]
  return first !== undefined && first !== '#'
}

/** Goes through the lines of several files, as the parser does. Is itself the current line. */
class LineCursor implements TableLine {
  file = ''
  line = 0
  text = ''
  isDone = false
  readonly #files: readonly PolicyFile[]
  #at = -1
  #content = ''
  #start = 1

  constructor(files: readonly PolicyFile[], at?: LineCursor) {
    this.#files = files
    if (at === undefined) this.advance()
    else {
      this.file = at.file
      this.line = at.line
      this.text = at.text
      this.isDone = at.isDone
      this.#at = at.#at
      this.#content = at.#content
      this.#start = at.#start
    }
  }

  advance(): void {
    while (this.#start > this.#content.length) {
      const file = this.#files[++this.#at]
      if (file === undefined) {
        this.isDone = true
        return
      }
      this.file = file.name
      this.line = 0
      this.#content = file.text
      this.#start = file.text.startsWith('\uFEFF') ? 1 : 0
    }
    const found = this.#content.indexOf('\n', this.#start)
    const end = found === -1 ? this.#content.length : found
    this.text = this.#content.slice(this.#start, end)
    this.#start = end + 1
    this.line++
  }

  /** The texts of the current line and of those after it. */
  ahead(most: number): readonly string[] {
    const texts: string[] = []
    const other = new LineCursor(this.#files, this)
    for (; !other.isDone && texts.length < most; other.advance()) texts.push(other.text)
    return texts
  }
}
