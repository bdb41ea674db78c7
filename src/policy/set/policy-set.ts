import { Invalid, type Problem } from '../../kernel/errors.ts'
import type { Model } from '../model/model.ts'
import { parseModel } from '../model/parse-model.ts'
import { quote } from '../rule/rule.ts'
import type { Expiring } from '../rule/until.ts'
import { finish, type Steps } from '../steps.ts'
import { reportByteOrderMarks } from './byte-order-mark.ts'
import { createCsvParser, type PolicyLines } from './csv.ts'
import { distinct } from './distinct.ts'
import { parseExclusions } from './exclusions.ts'
import { guardrailKey, parseGuardrails } from './guardrails.ts'
import { checkInheritances } from './inheritance.ts'
import {
  datedKey,
  exclusionKey,
  inheritanceKey,
  type PolicyContent,
  revisionInSteps,
  ruleKey,
} from './revision.ts'
import { sortInSteps } from './sorting.ts'
import { looksLikeUntil, onlyAboveLines } from './until-comments.ts'

/** A parsed and validated policy. Immutable; `revision` names its content. */
export interface PolicySet extends PolicyContent {
  readonly revision: string
}

/** A file of a policy directory, already read. */
export interface PolicyFile {
  readonly name: string
  readonly text: string
}

/**
 * Turns the files of a policy directory (`model.conf`, `*.csv` in the order of their names,
 * `exclusions.yaml`, `guardrails.yaml`) into a policy set, all or nothing. Throws `Invalid` with every problem found.
 * A directory without rules is refused unless a line `# postern: empty` declares it.
 */
export function parsePolicySet(files: readonly PolicyFile[]): PolicySet {
  return finish(parseInSteps(files))
}

/** `parsePolicySet` in steps. */
export function* parseInSteps(files: readonly PolicyFile[]): Steps<PolicySet> {
  return (yield* parseKeyed(files)).set
}

/** A policy set, and the keys of its rules, sorted. */
export interface KeyedSet {
  readonly set: PolicySet
  readonly ruleKeys: readonly string[]
  /** Whether a line of a table expires. */
  readonly hasUntil: boolean
}

/** `parseInSteps` with the keys of the rules. */
export function* parseKeyed(files: readonly PolicyFile[]): Steps<KeyedSet> {
  const problems: Problem[] = []
  const report = (problem: Problem) => problems.push(problem)

  const { models, tables, exclusionLists, guardrailLists } = sortOut(files, report)
  for (const file of [...models, ...tables, ...exclusionLists, ...guardrailLists])
    reportByteOrderMarks(file, report)
  for (const file of models) reportUntil(file, report)
  const [modelFile] = models
  const model = modelFile === undefined ? undefined : parseModel(modelFile, report)
  const parseCsv = createCsvParser(model ?? widestModel, report)
  const lines: PolicyLines[] = []
  for (const table of tables) lines.push(yield* parseCsv(table))
  // Where the first match decides, equal lines that expire at different times are not one line.
  const ordered = model?.casbin?.effect === 'priority'
  const rules = yield* distinct(
    lines.map((each) => each.rules),
    ordered ? keyed(ruleKey) : ruleKey,
  )
  const inheritances = yield* distinct(
    lines.map((each) => each.inheritances),
    inheritanceKey,
  )
  const exclusions = yield* distinct(
    exclusionLists.map((file) => parseExclusions(file, report)),
    exclusionKey,
  )

  const guardrails = guardrailLists.flatMap((file) => parseGuardrails(file, report))
  checkInheritances(inheritances.list, report)
  // A table whose every line is bad is not empty.
  if (problems.length === 0) checkEmptiness(tables, lines, report)
  if (problems.length > 0 || model === undefined) throw new Invalid(problems.toSorted(byPlace))

  const hasUntil = lines.some((each) => each.hasUntil)
  const ruleKeys = ordered || hasUntil ? rules.list.map(keyed(ruleKey)) : rules.keys
  const revision = yield* revisionInSteps(model, {
    rules: ordered ? ruleKeys : hasUntil ? yield* sortInSteps(ruleKeys) : ruleKeys,
    inheritances: hasUntil
      ? inheritances.list.map(keyed(inheritanceKey)).sort()
      : inheritances.keys,
    exclusions: exclusions.list.map(keyed(exclusionKey)).sort(),
    guardrails: guardrails.map(guardrailKey).sort(),
  })
  const set = Object.freeze({
    model,
    rules: rules.list,
    inheritances: inheritances.list,
    exclusions: exclusions.list,
    ...(guardrails.length > 0 && { guardrails: Object.freeze(guardrails) }),
    revision,
  })
  return { set, ruleKeys: rules.keys, hasUntil }
}

/** The key of a line with the moment from which it is ignored. */
function keyed<Line extends Expiring>(keyOf: (line: Line) => string) {
  return (line: Line) => datedKey(keyOf(line), line)
}

/** Nothing in a model can expire. */
function reportUntil({ name, text }: PolicyFile, report: (problem: Problem) => void): void {
  for (const [index, line] of text.split('\n').entries()) {
    const at = line.search(/[#;]/)
    if (at === -1 || !looksLikeUntil(line.slice(at))) continue
    report({ file: name, line: index + 1, message: onlyAboveLines })
  }
}

/** Replaces an invalid model, so that the lines are still checked. */
const widestModel: Model = {
  inheritance: true,
  path: { keyMatch: true, keyMatch2: true },
  anyMethod: true,
  effectColumn: true,
  denyOverrides: true,
  methodLists: true,
}

/** The files of a policy by kind; reports those that have none. */
export function sortOut(files: readonly PolicyFile[], report: (problem: Problem) => void) {
  const kinds = Map.groupBy(
    files.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ({ name }) => kindOf(name),
  )
  const of = (kind: ReturnType<typeof kindOf>) => kinds.get(kind) ?? []

  for (const { name } of of('unknown')) {
    // A file with a mistyped name may contain deny rules.
    report({
      file: name,
      message:
        'unexpected file: a policy directory contains model.conf, *.csv, exclusions.yaml and guardrails.yaml',
    })
  }
  for (const kind of ['model.conf', 'exclusions.yaml', 'guardrails.yaml'] as const) {
    for (const { name } of of(kind).slice(1))
      report({ file: name, message: `duplicate ${kind}: keep one` })
  }
  if (of('model.conf').length === 0)
    report({ file: 'model.conf', message: 'missing: every policy needs a model.conf' })
  return {
    models: of('model.conf'),
    tables: of('csv'),
    exclusionLists: of('exclusions.yaml'),
    guardrailLists: of('guardrails.yaml'),
  }
}

type FileKind = 'model.conf' | 'csv' | 'exclusions.yaml' | 'guardrails.yaml' | 'note' | 'unknown'

function kindOf(name: string): FileKind {
  const base = name.slice(name.lastIndexOf('/') + 1)
  if (base === 'model.conf' || base === 'exclusions.yaml' || base === 'guardrails.yaml') return base
  if (base.endsWith('.csv')) return 'csv'
  return base.endsWith('.md') ? 'note' : 'unknown'
}

function checkEmptiness(
  tables: readonly PolicyFile[],
  lines: readonly PolicyLines[],
  report: (problem: Problem) => void,
): void {
  const hasRules = lines.some(({ rules }) => rules.length > 0)
  const declared = lines.findIndex(({ declaredEmpty }) => declaredEmpty !== undefined)
  const file = tables[declared]?.name
  if (hasRules && file !== undefined) {
    report({
      file,
      line: lines[declared]?.declaredEmpty ?? 1,
      message:
        '"# postern: empty" declares the policy empty, but it has rules: remove this line or the rules',
    })
  }
  if (!hasRules && file === undefined) {
    report({
      file: tables[0]?.name ?? 'policy.csv',
      message: `the policy has no rules, so only admin could call anything; if you mean that, add the line ${quote('# postern: empty')} to a *.csv file`,
    })
  }
}

/** By file, line and column. */
export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}
