import { isSeq, type Node, parseDocument } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import type { Exclusion, Inheritance, Rule } from '../../policy/rule/rule.ts'
import { createCsvParser } from '../../policy/set/csv.ts'
import { parseExclusions } from '../../policy/set/exclusions.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { finish } from '../../policy/steps.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../policy/usage/usage-key.ts'
import { createLineages } from '../lineage.ts'
import type { UnusedAnswer } from './unused.ts'

/**
 * Removes unused grants, exclusions and the inheritances of roles that were never seen, line by line, so
 * that comments and order stay. What is too new to tell stays. Throws when the policy would have no rule
 * left, and when what is left is not what was meant.
 */
export function candidateWithout(
  files: readonly PolicyFile[],
  set: PolicySet,
  unused: UnusedAnswer,
  areRolesCounted: boolean,
) {
  const old = <What>(list: readonly { readonly what: What; readonly isNew: boolean }[]) =>
    list.filter(({ isNew }) => !isNew).map(({ what }) => what)
  const rules = new Set(old(unused.grants).map(ruleUsageKey))
  const exclusions = new Set(old(unused.exclusions).map(exclusionUsageKey))
  const isKeptRule = (rule: Rule) => !rules.has(ruleUsageKey(rule))
  // A role whose tokens were not counted by name may still need what it inherits.
  const isKept = areRolesCounted
    ? keptInheritances(set, isKeptRule, new Set(old(unused.roles)))
    : () => true

  const parse = createCsvParser(set.model, () => {})
  const reduced = files.map((file): PolicyFile => {
    if (file.name.endsWith('.csv')) {
      const lines = finish(parse(file))
      const gone = [
        ...lines.rules.filter((rule) => !isKeptRule(rule)),
        ...lines.inheritances.filter((each) => !isKept(each)),
      ]
      return {
        ...file,
        text: withoutLines(file.text, new Set(gone.map((each) => each.origin.line))),
      }
    }
    if (!/(?:^|\/)exclusions\.yaml$/.test(file.name)) return file
    return withoutEntries(file, (entry) => exclusions.has(exclusionUsageKey(entry)))
  })

  const left = parsePolicySet(reduced)
  const expected = {
    rules: set.rules.filter(isKeptRule),
    inheritances: set.inheritances.filter(isKept),
    exclusions: set.exclusions.filter((each) => !exclusions.has(exclusionUsageKey(each))),
  }
  for (const part of ['rules', 'inheritances', 'exclusions'] as const) {
    if (contentOf(left[part]) !== contentOf(expected[part])) {
      throw new Error(`the ${part} of the candidate are not those that were meant`)
    }
  }
  return {
    files: reduced,
    set: left,
    dropped: {
      rules: set.rules.length - left.rules.length,
      inheritances: set.inheritances.length - left.inheritances.length,
      exclusions: set.exclusions.length - left.exclusions.length,
    },
  }
}

/** What lines say, without their places. */
function contentOf(lines: readonly object[]): string {
  return JSON.stringify(lines.map((line) => JSON.stringify({ ...line, origin: undefined })).sort())
}

/**
 * Keeps the inheritances of a role that was seen, unless its parent had rules and has none left: a line
 * that grants nothing looks like a mistake. Under a model that Casbin evaluates, all stay.
 */
function keptInheritances(
  set: PolicySet,
  isKeptRule: (rule: Rule) => boolean,
  unseen: ReadonlySet<string>,
): (inheritance: Inheritance) => boolean {
  if (set.model.casbin !== undefined) return () => true
  const { waysUp } = createLineages(set)
  const granting = (rules: readonly Rule[]) => {
    const roles = new Set(rules.map(({ roleKey }) => roleKey))
    for (const { roleKey } of set.model.superusers ?? []) roles.add(roleKey)
    return (roleKey: string) =>
      roles.has(roleKey) || [...waysUp(roleKey).keys()].some((each) => roles.has(each))
  }
  const [did, does] = [granting(set.rules), granting(set.rules.filter(isKeptRule))]
  return ({ roleKey, parentKey }) => !unseen.has(roleKey) && (does(parentKey) || !did(parentKey))
}

/**
 * An exclusion list without some of its entries. Removes whole lines where each entry has lines of its
 * own, so that the rest stays as it was written; other styles of YAML are written anew.
 */
function withoutEntries(file: PolicyFile, isGone: (entry: Exclusion) => boolean): PolicyFile {
  const entries = parseExclusions(file, () => {})
  const gone = entries.filter(isGone)
  if (gone.length === 0) return file
  const document = parseDocument(file.text, { schema: 'failsafe' })
  const { contents } = document
  if (!isSeq(contents)) return file
  const isGoneAt = (index: number) => gone.some((each) => each === entries[index])

  const text = withoutLines(
    file.text,
    linesOf(
      file.text,
      contents.items.filter((_, at) => isGoneAt(at)),
    ),
  )
  const problems: Problem[] = []
  const left = parseExclusions({ ...file, text }, (problem) => problems.push(problem))
  const isRight = problems.length === 0 && left.length === entries.length - gone.length
  if (isRight) return { ...file, text }
  contents.items = contents.items.filter((_, at) => !isGoneAt(at))
  return { ...file, text: String(document) }
}

/** The numbers of the lines that these nodes are on, with the line above that has only their dash. */
function linesOf(text: string, nodes: readonly unknown[]): ReadonlySet<number> {
  const texts = text.split('\n')
  const lines = new Set<number>()
  for (const node of nodes) {
    const [start, end] = (node as Partial<Node>).range ?? [0, 0]
    const first = lineAt(text, start)
    const last = lineAt(text, start + text.slice(start, end).trimEnd().length)
    for (let line = first; line <= last; line++) lines.add(line)
    if (texts[first - 2]?.trim() === '-') lines.add(first - 1)
  }
  return lines
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    line++
  return line
}

/**
 * A text without these lines, counted from 1. A comment for Postern directly above a removed line, such
 * as the time at which it expires, goes with it: it would apply to the next line. Other comments stay.
 */
function withoutLines(text: string, removed: ReadonlySet<number>): string {
  if (removed.size === 0) return text
  const lines = text.split('\n')
  const gone = new Set([...removed].map((line) => line - 1))
  for (const line of removed) {
    for (let above = line - 2; above >= 0 && isComment(lines[above]); above--) {
      if (isDirective(lines[above])) gone.add(above)
    }
  }
  return lines.filter((_, index) => !gone.has(index)).join('\n')
}

function isComment(line = ''): boolean {
  return line.trimStart().startsWith('#')
}

function isDirective(line = ''): boolean {
  return /^\s*#\s*postern:\s*(?:until|ignore)\b/.test(line)
}
