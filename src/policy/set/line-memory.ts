import type { Inheritance, Rule } from '../rule/rule.ts'

/** What a line of a policy file says: nothing, when it is blank or a comment. */
export type Line = Rule | Inheritance | undefined

/** A file that was read before and found good, line by line. */
export interface KnownFile {
  readonly text: string
  readonly lines: readonly Line[]
}

/** The lines at both ends of a text that a known file has as well; the rest lies between. */
interface SameLines {
  readonly head: readonly Line[]
  /** Where in the text the lines of the head end. */
  readonly headEnd: number
  readonly tail: readonly Line[]
  /** Where in the text the lines of the tail begin; its length when there are none. */
  readonly tailStart: number
}

/**
 * The files of the policy that was prepared last. A push changes a few lines of thousands: whoever
 * prepares the next revision need not read the others again.
 */
export interface LineMemory {
  /** What is known of a file with this name, under this model. */
  readonly recall: (name: string, model: string) => KnownFile | undefined
  /** Replaces all that is known. */
  readonly remember: (model: string, files: ReadonlyMap<string, KnownFile>) => void
}

/** A memory with nothing in it, which keeps no policy of more than `most` characters. */
export function createLineMemory(most = 8_000_000): LineMemory {
  let known: { readonly model: string; readonly files: ReadonlyMap<string, KnownFile> } | undefined

  return {
    recall: (name, model) => (known?.model === model ? known.files.get(name) : undefined),
    remember(model, files) {
      let size = 0
      for (const { text } of files.values()) size += text.length
      known = size > most ? undefined : { model, files }
    },
  }
}

/** Compares a text with what is known of it. */
export function sameLines(text: string, known: KnownFile | undefined): SameLines {
  if (known === undefined) return { head: [], headEnd: 0, tail: [], tailStart: text.length }
  const { text: before, lines } = known
  const start = commonStart(text, before)
  const headEnd = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1
  const rest = Math.min(text.length, before.length) - headEnd
  const end = commonEnd(text, before, rest)
  const newline = end === 0 ? -1 : text.indexOf('\n', text.length - end)
  const tailStart = newline === -1 ? text.length : newline + 1
  return {
    head: lines.slice(0, countNewlines(text, 0, headEnd)),
    headEnd,
    tail:
      tailStart === text.length
        ? []
        : lines.slice(-1 - countNewlines(text, tailStart, text.length)),
    tailStart,
  }
}

/** So many characters are compared at once: the engine does that faster than any loop. */
const stride = 4096

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let same = 0
  while (same + stride <= most) {
    if (one.slice(same, same + stride) !== other.slice(same, same + stride)) break
    same += stride
  }
  while (same < most && one.charCodeAt(same) === other.charCodeAt(same)) same++
  return same
}

function commonEnd(one: string, other: string, most: number): number {
  let same = 0
  while (same + stride <= most) {
    const from = same + stride
    if (
      one.slice(one.length - from, one.length - same) !==
      other.slice(other.length - from, other.length - same)
    ) {
      break
    }
    same += stride
  }
  while (
    same < most &&
    one.charCodeAt(one.length - 1 - same) === other.charCodeAt(other.length - 1 - same)
  ) {
    same++
  }
  return same
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    count++
  }
  return count
}
