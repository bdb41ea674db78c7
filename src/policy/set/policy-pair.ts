import type { Inheritance, Rule } from '../rule/rule.ts'
import { finish } from '../steps.ts'
import { reportByteOrderMarks } from './byte-order-mark.ts'
import { pairLines, type TableLine } from './common-lines.ts'
import { createCsvParser } from './csv.ts'
import { distinct } from './distinct.ts'
import { parseExclusions } from './exclusions.ts'
import { guardrailKey, parseGuardrails } from './guardrails.ts'
import { checkInheritances } from './inheritance.ts'
import {
  type KeyedSet,
  type PolicyFile,
  type PolicySet,
  parseKeyed,
  parsePolicySet,
  sortOut,
} from './policy-set.ts'
import { datedKey, exclusionKey, inheritanceKey, revisionInSteps, ruleKey } from './revision.ts'

/**
 * Parses two policies, as `parsePolicySet` would, in little more than the time and memory of one when
 * they have most lines in common: an equal line under an equal model has an equal meaning.
 */
export function parsePolicyPair(
  from: readonly PolicyFile[],
  to: readonly PolicyFile[],
): { readonly from: PolicySet; readonly to: PolicySet } {
  const base = finish(parseKeyed(from))
  return { from: base.set, to: parseEdit(base, from, to) ?? parsePolicySet(to) }
}

/** Parses what an edit made of a policy; `undefined` where that is not simple, or not valid. */
function parseEdit(
  { set: base, ruleKeys, hasUntil }: KeyedSet,
  baseFiles: readonly PolicyFile[],
  files: readonly PolicyFile[],
): PolicySet | undefined {
  let isSound = true
  const report = () => {
    isSound = false
  }
  const [before, after] = [sortOut(baseFiles, report), sortOut(files, report)]
  const { model } = base
  const isSameModel = before.models[0]?.text === after.models[0]?.text
  if (!isSound || !isSameModel || model.casbin !== undefined || base.rules.length === 0) {
    return undefined
  }
  // An equal line may have another meaning below another comment.
  if (hasUntil || after.tables.some(({ text }) => /#.*postern.*until/i.test(text))) return undefined
  const { tables, exclusionLists, guardrailLists } = after
  for (const file of [...tables, ...exclusionLists, ...guardrailLists])
    reportByteOrderMarks(file, report)

  const parseCsv = createCsvParser(model, report)
  const parseLine = ({ text }: TableLine) => finish(parseCsv({ name: '', text }))
  const next = inTurn(base)
  const rules: Rule[] = []
  const inheritances: Inheritance[] = []
  const [added, removed]: [Rule[], Rule[]] = [[], []]

  function take({ file, line }: TableLine, found: Rule | Inheritance): void {
    const origin = Object.freeze({ file, line })
    if ('path' in found) rules.push(Object.freeze({ ...found, origin }))
    else inheritances.push(Object.freeze({ ...found, origin }))
  }

  function onlyTo(line: TableLine): void {
    const parsed = parseLine(line)
    if (parsed.declaredEmpty !== undefined) report()
    for (const each of [...parsed.rules, ...parsed.inheritances]) take(line, each)
    added.push(...parsed.rules)
  }

  const isEdit = pairLines(before.tables, after.tables, {
    common(old, line) {
      const found = next(old)
      if (found !== undefined) take(line, found)
      // The first one of two equal lines may be gone.
      else if (!isIgnored(line.text)) onlyTo(line)
    },
    onlyFrom(line) {
      const found = next(line)
      if (found !== undefined && 'path' in found) removed.push(found)
    },
    onlyTo,
    most: base.rules.length / 4,
  })
  if (!isEdit || !isSound || rules.length === 0) return undefined

  const goneKeys = new Set(removed.map(ruleKey))
  const newKeys = new Set(added.map(ruleKey))
  const repeated = new Set<string>()
  if (newKeys.size < added.length) for (const key of newKeys) repeated.add(key)
  for (const key of newKeys) if (!goneKeys.has(key) && has(ruleKeys, key)) repeated.add(key)

  const links = finish(distinct([inheritances], inheritanceKey))
  const exclusions = finish(
    distinct(
      after.exclusionLists.map((file) => parseExclusions(file, report)),
      exclusionKey,
    ),
  )
  const guardrails = guardrailLists.flatMap((file) => parseGuardrails(file, report))
  checkInheritances(links.list, report)
  if (!isSound) return undefined
  return Object.freeze({
    model,
    rules: Object.freeze(withoutRepeated(rules, repeated)),
    inheritances: links.list,
    exclusions: exclusions.list,
    ...(guardrails.length > 0 && { guardrails: Object.freeze(guardrails) }),
    revision: finish(
      revisionInSteps(model, {
        rules: merged(ruleKeys, goneKeys, [...newKeys].sort()),
        inheritances: links.keys,
        exclusions: exclusions.list.map((each) => datedKey(exclusionKey(each), each)).sort(),
        guardrails: guardrails.map(guardrailKey).sort(),
      }),
    ),
  })
}

/** For each line of the files that a policy was read from, in order: what it says, if it counts. */
function inTurn({ rules, inheritances }: PolicySet) {
  let [rule, inheritance] = [0, 0]
  const isAt = (found: Rule | Inheritance | undefined, { file, line }: TableLine) =>
    found !== undefined && found.origin.line === line && found.origin.file === file
  return (line: TableLine): Rule | Inheritance | undefined => {
    if (isAt(rules[rule], line)) return rules[rule++]
    return isAt(inheritances[inheritance], line) ? inheritances[inheritance++] : undefined
  }
}

/** Blank lines and comments. */
function isIgnored(text: string): boolean {
  const first = text.trimStart()[0]
  return first === undefined || first === '#'
}

/** Whether a sorted list has a text. */
function has(sorted: readonly string[], text: string): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return sorted[low] === text
}

/** Keeps the first of the rules that say the same. */
function withoutRepeated(rules: Rule[], repeated: ReadonlySet<string>): Rule[] {
  if (repeated.size === 0) return rules
  const seen = new Set<string>()
  return rules.filter((rule) => {
    const key = ruleKey(rule)
    return !repeated.has(key) || seen.size < seen.add(key).size
  })
}

/** The keys of the edited policy, sorted and each once. */
function* merged(
  keys: readonly string[],
  gone: ReadonlySet<string>,
  added: readonly string[],
): Generator<string> {
  let at = 0
  for (const key of keys) {
    for (let next = added[at]; next !== undefined && next < key; next = added[++at]) yield next
    if (added[at] === key) {
      at++
      yield key
    } else if (!gone.has(key)) yield key
  }
  yield* added.slice(at)
}
