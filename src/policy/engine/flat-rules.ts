import type { Effect, Origin, Rule } from '../rule/rule.ts'
import { createNumbers } from './rule-index.ts'
import { readKind } from './rule-table.ts'
import { type TextTable, tableOf, textAt } from './text-table.ts'

/** The columns of rules of the index grammar, in flat memory. */
export interface FlatRules {
  readonly roles: Int32Array
  readonly roleTexts: TextTable
  readonly paths: Int32Array
  readonly pathTexts: TextTable
  /** Method and effect, as `readKind` has them. */
  readonly kinds: Int32Array
  readonly files: readonly string[]
  readonly fileNumbers: Int32Array
  readonly lines: Int32Array
}

/** Puts rules into columns. `kinds` are those of their table. */
export function flattenRules(rules: readonly Rule[], kinds: Int32Array): FlatRules {
  const texts = { role: createNumbers(), path: createNumbers(), file: createNumbers() }
  const roles = new Int32Array(rules.length)
  const paths = new Int32Array(rules.length)
  const fileNumbers = new Int32Array(rules.length)
  const lines = new Int32Array(rules.length)
  for (let position = 0; position < rules.length; position++) {
    const { roleKey, path, origin } = rules[position] as Rule
    roles[position] = texts.role.of(roleKey)
    paths[position] = texts.path.of(path)
    fileNumbers[position] = texts.file.of(origin.file)
    lines[position] = origin.line
  }
  return {
    roles,
    roleTexts: tableOf(texts.role.texts),
    paths,
    pathTexts: tableOf(texts.path.texts),
    kinds,
    files: texts.file.texts,
    fileNumbers,
    lines,
  }
}

/** The rule at this place, made anew and frozen. */
export function ruleAt(flat: FlatRules, position: number): Rule {
  const number = (column: Int32Array) => column[position] as number
  const { method, effect }: { method: string; effect: Effect } = readKind(number(flat.kinds))
  const origin: Origin = Object.freeze({
    file: flat.files[number(flat.fileNumbers)] ?? '',
    line: number(flat.lines),
  })
  return Object.freeze({
    roleKey: textAt(flat.roleTexts, number(flat.roles)),
    path: textAt(flat.pathTexts, number(flat.paths)),
    method,
    effect,
    origin,
  })
}
