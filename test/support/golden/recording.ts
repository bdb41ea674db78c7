/** One call of a test. Texts are masked and split into lines. */
export interface Recorded {
  readonly call: string
  readonly [part: string]: Part | undefined
}

type Part = string | number | readonly string[]

/** The calls of one test file, by the name of the test. */
export type Recording = Readonly<Record<string, readonly Recorded[]>>

/** In place of a line, a part or all calls of a test that differ from run to run. */
export const VARIES = '<varies>'

/** In place of a first call: the test repeats calls until they succeed, and only the last of each counts. */
const REPEATS = '<repeats>'

/** In a file, in place of a text that is the same as that of the call before. */
const AS_BEFORE = '<as before>'

/** Without texts that follow themselves: help in all its spellings is most of a recording. */
export function packed(calls: readonly Recorded[]): readonly Recorded[] {
  return calls.map((each, at) => {
    const before = calls[at - 1]
    return mapParts(each, (part, name) => {
      const isSame = isText(part) && JSON.stringify(before?.[name]) === JSON.stringify(part)
      return isSame ? AS_BEFORE : part
    })
  })
}

/** The reverse. */
export function unpacked(calls: readonly Recorded[]): readonly Recorded[] {
  const found: Recorded[] = []
  for (const each of calls) {
    const before = found.at(-1)
    found.push(mapParts(each, (part, name) => (part === AS_BEFORE ? before?.[name] : part)))
  }
  return found
}

function mapParts(
  recorded: Recorded,
  change: (part: Part | undefined, name: string) => Part | undefined,
): Recorded {
  const parts = Object.entries(recorded).map(([name, part]) => [name, change(part, name)] as const)
  return { ...Object.fromEntries(parts), call: recorded.call }
}

/** A recording with marks for what another run of the same test gave differently. */
export function marked(
  before: readonly Recorded[],
  after: readonly Recorded[],
): readonly Recorded[] {
  if (before[0]?.call === VARIES) return before
  const isRepeating = before[0]?.call === REPEATS
  if (!isRepeating && haveSameCalls(before, after)) return pairs(before, after, markedPart)
  const [one, other] = [collapsed(before.slice(isRepeating ? 1 : 0)), collapsed(after)]
  if (!haveSameCalls(one, other)) return [{ call: VARIES }]
  return [{ call: REPEATS }, ...pairs(one, other, markedPart)]
}

/** The calls of a test with the marks of its recording: equal to it, unless something has changed. */
export function withMarksOf(
  expected: readonly Recorded[],
  found: readonly Recorded[],
): readonly Recorded[] {
  if (expected[0]?.call === VARIES) return expected
  const isRepeating = expected[0]?.call === REPEATS
  const calls = isRepeating ? [{ call: REPEATS }, ...collapsed(found)] : found
  return pairs(expected, calls, takenPart)
}

function haveSameCalls(one: readonly Recorded[], other: readonly Recorded[]): boolean {
  return one.length === other.length && one.every(({ call }, at) => call === other[at]?.call)
}

/** Without those that the same call follows. */
function collapsed(calls: readonly Recorded[]): readonly Recorded[] {
  return calls.filter(({ call }, at) => call !== calls[at + 1]?.call)
}

type Merge = (before: Part | undefined, after: Part | undefined) => Part | undefined

function pairs(
  before: readonly Recorded[],
  after: readonly Recorded[],
  merge: Merge,
): readonly Recorded[] {
  return after.map((each, at) => {
    const other = before[at]
    if (other === undefined || other.call !== each.call) return each
    const names = new Set([...Object.keys(other), ...Object.keys(each)])
    const parts = [...names].map((name) => [name, merge(other[name], each[name])] as const)
    const defined = parts.filter(([, part]) => part !== undefined)
    return { ...Object.fromEntries(defined), call: each.call }
  })
}

const isText = (part: Part | undefined): part is readonly string[] => Array.isArray(part)

function markedPart(before: Part | undefined, after: Part | undefined): Part {
  if (isText(before) && isText(after) && before.length === after.length) {
    return after.map((line, at) => (line === before[at] ? line : VARIES))
  }
  return before === after && after !== undefined ? after : VARIES
}

function takenPart(expected: Part | undefined, found: Part | undefined): Part | undefined {
  if (expected === VARIES) return VARIES
  if (!isText(expected) || !isText(found)) return found
  return found.map((line, at) => (expected[at] === VARIES ? VARIES : line))
}
