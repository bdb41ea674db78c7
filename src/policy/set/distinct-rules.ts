import type { Effect, Rule } from '../rule/rule.ts'
import { rowsPerStep, type Steps } from '../rule/steps.ts'
import type { Distinct } from './distinct.ts'
import { ruleKey } from './revision.ts'
import { sortInSteps, sortNumbersInSteps } from './sorting.ts'
import { createTextMap } from './text-map.ts'

/**
 * What `distinct` does for rules by their `ruleKey`, without a key for each: a hundred thousand long
 * texts that live for a moment are copied by every garbage collection of that moment. The place of
 * role, path, method and effect among all that occur makes one number of a rule, and since no field
 * has a character below the one that separates them in keys, numbers are in the order of keys.
 */
export function* distinctRules(lists: readonly (readonly Rule[])[]): Steps<Distinct<Rule>> {
  const all = yield* joinInSteps(lists)
  const roles = yield* rank(all, ({ roleKey }) => roleKey)
  const paths = yield* rank(all, ({ path }) => path)
  const methods = yield* rank(all, ({ method }) => method)

  const numbers = new Float64Array(all.length)
  for (let index = 0; index < all.length; index++) {
    if (index % rowsPerStep === 0) yield
    const { roleKey, path, method, effect } = all[index] as Rule
    const place = roles.placeOf(roleKey) * paths.texts.length + paths.placeOf(path)
    const kind = methods.placeOf(method) * effects.length + effects.indexOf(effect)
    numbers[index] = place * methods.texts.length * effects.length + kind
  }
  const sorted = yield* sortNumbersInSteps(numbers.slice())

  const repeated = new Set<number>()
  for (let index = 1; index < sorted.length; index++) {
    if (index % (rowsPerStep * 8) === 0) yield
    if (sorted[index] === sorted[index - 1]) repeated.add(sorted[index] as number)
  }
  const list = repeated.size === 0 ? all : yield* firstOnly(all, numbers, repeated)

  function* keys(): Generator<string> {
    const kinds = methods.texts.length * effects.length
    for (let index = 0; index < sorted.length; index++) {
      const number = sorted[index] as number
      if (number === sorted[index - 1]) continue
      const place = Math.floor(number / kinds)
      const kind = number % kinds
      yield ruleKey({
        roleKey: roles.texts[Math.floor(place / paths.texts.length)] ?? '',
        path: paths.texts[place % paths.texts.length] ?? '',
        method: methods.texts[Math.floor(kind / effects.length)] ?? '',
        effect: effects[kind % effects.length] ?? 'deny',
      })
    }
  }
  return { list: Object.freeze(list), keys: keys() }
}

const effects: readonly Effect[] = ['allow', 'deny']

function* joinInSteps(lists: readonly (readonly Rule[])[]): Steps<Rule[]> {
  const all: Rule[] = []
  for (const list of lists) {
    for (const rule of list) if (all.push(rule) % (rowsPerStep * 8) === 0) yield
  }
  return all
}

/** The texts that occur, sorted, and the place of each among them. */
function* rank(rules: readonly Rule[], textOf: (rule: Rule) => string) {
  const places = createTextMap<number>()
  const found: string[] = []
  for (let index = 0; index < rules.length; index++) {
    if (index % rowsPerStep === 0) yield
    const text = textOf(rules[index] as Rule)
    if (places.get(text) !== undefined) continue
    places.set(text, 0)
    found.push(text)
  }
  const texts = yield* sortInSteps(found)
  for (const [place, text] of texts.entries()) {
    if (place % rowsPerStep === 0) yield
    places.set(text, place)
  }
  return { texts, placeOf: (text: string) => places.get(text) ?? 0 }
}

function* firstOnly(
  all: readonly Rule[],
  numbers: Float64Array,
  repeated: ReadonlySet<number>,
): Steps<Rule[]> {
  const first: Rule[] = []
  const seen = new Set<number>()
  for (const [index, rule] of all.entries()) {
    if (index % rowsPerStep === 0) yield
    const number = numbers[index] ?? 0
    if (seen.has(number)) continue
    if (repeated.has(number)) seen.add(number)
    first.push(rule)
  }
  return first
}
