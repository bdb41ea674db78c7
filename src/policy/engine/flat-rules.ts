import type { Effect, Origin, Rule } from '../rule/rule.ts'
import { readKind } from './rule-table.ts'
import { createNumbers } from './tables/numbers.ts'
import { type TextTable, tableOf, textAt } from './tables/text-table.ts'

/** The columns of rules of the index grammar, in flat memory. */
export interface FlatRules {
  readonly roles: Int32Array
  readonly roleTexts: TextTable
  readonly paths: Int32Array
  readonly pathTexts: TextTable
  /** Method and effect, as `readKind` has them. */
  readonly kinds: Int32Array
  /** The texts of the method column; empty unless the model compares methods with regexMatch(). */
  readonly methods: Int32Array
  readonly methodTexts: TextTable
  /** The domain column; empty if rules have none. */
  readonly domains: Int32Array
  readonly domainTexts: TextTable
  /** How many `fields` each rule has; 0 without. */
  readonly fieldCount: number
  readonly files: readonly string[]
  readonly fileNumbers: Int32Array
  readonly lines: Int32Array
  /** When each rule ends, as in `IndexExpiry`; absent if no line expires. */
  readonly ends?: Float64Array
}

/** Puts rules into columns. `kinds` are those of their table. */
export function flattenRules(
  rules: readonly Rule[],
  {
    kinds,
    methodLists,
    ends,
  }: {
    readonly kinds: Int32Array
    readonly methodLists: boolean
    readonly ends?: Float64Array | undefined
  },
): FlatRules {
  const texts = { role: createNumbers(), path: createNumbers(), file: createNumbers() }
  const methodTexts = createNumbers()
  const domainTexts = createNumbers()
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
    methods: methodLists
      ? Int32Array.from(rules, ({ method }) => methodTexts.of(method))
      : new Int32Array(0),
    methodTexts: tableOf(methodTexts.texts),
    domains:
      rules[0]?.domain === undefined
        ? new Int32Array(0)
        : Int32Array.from(rules, ({ domain = '' }) => domainTexts.of(domain)),
    domainTexts: tableOf(domainTexts.texts),
    fieldCount: rules[0]?.fields?.length ?? 0,
    files: texts.file.texts,
    fileNumbers,
    lines,
    ...(ends !== undefined && { ends }),
  }
}

/** The rule at this place, made anew and frozen. */
export function ruleAt(flat: FlatRules, position: number): Rule {
  const number = (column: Int32Array) => column[position] as number
  const kind: { method: string; effect: Effect } = readKind(number(flat.kinds))
  const method =
    flat.methods.length === 0 ? kind.method : textAt(flat.methodTexts, number(flat.methods))
  const origin: Origin = Object.freeze({
    file: flat.files[number(flat.fileNumbers)] ?? '',
    line: number(flat.lines),
  })
  const { effect } = kind
  const roleKey = textAt(flat.roleTexts, number(flat.roles))
  const path = textAt(flat.pathTexts, number(flat.paths))
  const end = flat.ends?.[position] ?? Number.POSITIVE_INFINITY
  const until = end === Number.POSITIVE_INFINITY ? {} : { until: end }
  const rule = { roleKey, path, method, effect, origin, ...until }
  if (flat.fieldCount === 0) return Object.freeze(rule)
  const domain =
    flat.domains.length === 0 ? undefined : textAt(flat.domainTexts, number(flat.domains))
  const named = domain === undefined ? [roleKey] : [roleKey, domain]
  const fields = Object.freeze([...named, path, method, effect].slice(0, flat.fieldCount))
  return Object.freeze({ ...rule, fields, ...(domain !== undefined && { domain }) })
}
