import { type Finding, type Locate, placeOf } from '../review/finding.ts'
import { quote } from '../rule/rule.ts'
import type { NamedRole } from './named-roles.ts'

/**
 * Finds role keys that one typing error turns into another one: a letter too many, too few, wrong, or
 * swapped with its neighbor. Of two such roles, the one that fewer lines name is probably mistyped.
 */
export function checkSimilarRoles(
  roles: ReadonlyMap<string, NamedRole>,
  confirmed: ReadonlySet<string>,
  locate: Locate,
): Finding[] {
  const spelled = new Map<string, NamedRole | undefined>([['admin', undefined]])
  for (const role of roles.values()) {
    const folded = fold(role.roleKey)
    if (folded.length <= longestKey && !spelled.has(folded)) spelled.set(folded, role)
  }
  const doubts = new Map<string, Finding>()
  for (const [one, other] of neighbors([...spelled.keys()])) {
    const [doubted, likely] = inDoubt(spelled.get(one), spelled.get(other))
    if (doubted === undefined || doubts.has(doubted.roleKey)) continue
    if (confirmed.has(doubted.roleKey)) continue
    const message = `role ${quote(doubted.roleKey)} is one typing error away from ${whom(likely)}: correct the one that is mistyped`
    doubts.set(doubted.roleKey, {
      ...locate(doubted.origin, doubted.field),
      code: 'role-similar',
      message,
    })
  }
  return [...doubts.values()]
}

/** Longer keys are generated, and take time in the square of their length. */
const longestKey = 64

/** A numbering scheme has many roles that differ in one place; typing errors come in small groups. */
const largestGroup = 16

/** Keys that differ in case or wide letters only are the subject of another warning. */
function fold(roleKey: string): string {
  return roleKey.normalize('NFKC').toLowerCase()
}

/**
 * Pairs within one typing error. Two such keys have a spelling in common when one letter of each is
 * left out, or of the longer one: ten thousand roles need no comparison of each with each.
 */
function* neighbors(keys: readonly string[]): Generator<readonly [string, string]> {
  const firsts = new Map<string, string>()
  const groups = new Map<string, string[]>()
  const take = (spelling: string, key: string) => {
    const first = firsts.get(spelling)
    const group = groups.get(spelling)
    if (first === undefined) firsts.set(spelling, key)
    else if (group !== undefined) group.push(key)
    else if (first !== key) groups.set(spelling, [first, key])
  }
  for (const key of keys) {
    take(key, key)
    for (let at = 0; at < key.length; at++) {
      // A doubled letter leaves the same spelling twice.
      if (key[at] !== key[at - 1]) take(key.slice(0, at) + key.slice(at + 1), key)
    }
  }
  for (const group of groups.values()) {
    if (group.length > largestGroup) continue
    for (const [at, key] of group.entries()) {
      for (const other of group.slice(at + 1)) if (isTypingError(key, other)) yield [key, other]
    }
  }
}

function isTypingError(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  let start = 0
  while (start < short.length && short[start] === long[start]) start++
  let end = 0
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++
  const [fewer, more] = [
    short.slice(start, short.length - end),
    long.slice(start, long.length - end),
  ]

  const isSwap = fewer.length === 2 && fewer[0] === more[1] && fewer[1] === more[0]
  if (more.length > 1 && !isSwap) return false
  const words = [wordAround(short, start, fewer.length), wordAround(long, start, more.length)]
  const shortest = Math.min(...words.map((word) => word.length))
  // Short words are abbreviations or codes, and `lead` and `read` are both words.
  if (shortest < (long.length > short.length || isSwap ? 4 : 5)) return false
  // `clerk1` and `clerk2` are numbered, `a7f2` and `a7f3` are generated.
  return !words.some((word) => /\p{N}/u.test(word))
}

/** The word of the key that contains this part; the whole key for a separator. */
function wordAround(key: string, start: number, length: number): string {
  const [before = ''] = /[\p{L}\p{N}]*$/u.exec(key.slice(0, start)) ?? []
  const [after = ''] = /^[\p{L}\p{N}]*/u.exec(key.slice(start)) ?? []
  return after.length < length ? key : before + after
}

/** Which of two roles is probably mistyped; `undefined` stands for `admin`, which needs no lines. */
function inDoubt(one: NamedRole | undefined, other: NamedRole | undefined) {
  if (one === undefined || other === undefined) return [one ?? other, undefined] as const
  return one.lines < other.lines ? ([one, other] as const) : ([other, one] as const)
}

function whom(likely: NamedRole | undefined): string {
  if (likely === undefined) return '"admin", which skips the permission check'
  return `${quote(likely.roleKey)} (${placeOf(likely.origin)})`
}
