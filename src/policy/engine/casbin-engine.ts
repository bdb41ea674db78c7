import { createRequire } from 'node:module'
import type * as Casbin from 'casbin'
import type { CasbinModel } from '../model/columns.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import { type Clock, isExpired } from '../rule/until.ts'
import { effectTexts, requestFields } from '../set/format.ts'
import { ancestorsInSteps, byScope, scopeOf } from '../set/inheritance.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { finish, rowsPerStep, type Steps } from '../steps.ts'
import type { Decision, Engine, Question } from './decision.ts'

/**
 * The engine for models outside the index grammar: a Casbin enforcer that is never reloaded. Rules go
 * into its model as rows, not as text. A decision costs time for every rule and throws when Casbin
 * does. Without rules, nothing matches. When a line expires, the next decision drops it.
 */
export function* createCasbinEngine(
  { rules, inheritances, revision }: PolicySet,
  {
    definition,
    reason,
    ends,
    now,
  }: {
    readonly definition: CasbinModel
    readonly reason: string
    readonly ends: readonly number[]
    readonly now: Clock
  },
): Steps<Engine> {
  const { enforcer, setRows } = createEnforcer(definition)
  const hasDomain = definition.domain !== undefined
  let inherits = yield* createRelations(inheritances)
  for (const { name } of definition.relations) {
    // Replaces Casbin's own function, which tries every path to a common ancestor: with 10 parents
    // each, ten levels take 10^10 steps. The promise is void because the function is added at once.
    void enforcer.addFunction(name, (role: string, parent: string, domain?: string) =>
      inherits(name, role, parent, domain),
    )
  }

  let rows: string[][] = []
  setRows(rows)
  const ruleOf = new Map<string[], Rule>()
  for (const [index, rule] of inOrder(rules, definition).entries()) {
    if (index % rowsPerStep === 0) yield
    const row = [...(rule.fields ?? [])]
    rows.push(row)
    ruleOf.set(row, rule)
    // A matcher that Casbin cannot parse fails here, not on the first request.
    if (index === 0) enforcer.enforceExSync(...requestOf('', '', '/', 'GET'))
  }
  const decisions = new Map<Rule, Decision>()

  function requestOf(roleKey: string, domain: string, path: string, method: string): string[] {
    return hasDomain ? [roleKey, domain, path, method] : [roleKey, path, method]
  }

  let period = { from: Number.NEGATIVE_INFINITY, to: ends[0] ?? Number.POSITIVE_INFINITY }

  /** Drops the lines that have expired, and takes back those that a clock set back revives. */
  function enter(at: number): void {
    const next = ends.findIndex((end) => at < end)
    const passed = next === -1 ? ends.length : next
    rows = [...ruleOf].flatMap(([row, rule]) => (isExpired(rule, at) ? [] : [row]))
    setRows(rows)
    inherits = finish(createRelations(inheritances.filter((each) => !isExpired(each, at))))
    period = {
      from: ends[passed - 1] ?? Number.NEGATIVE_INFINITY,
      to: ends[passed] ?? Number.POSITIVE_INFINITY,
    }
  }

  return Object.freeze({
    name: 'casbin',
    reason,

    decide({ roleKey, domain = '', method, path }: Question) {
      // A matcher could let an empty domain match, so a request without one is never asked about.
      if (hasDomain && domain === '') return undefined
      if (ends.length > 0) {
        const at = now()
        if (at < period.from || at >= period.to) enter(at)
      }
      if (rows.length === 0) return undefined
      const request = requestOf(roleKey, domain, path, method)
      // Casbin's == takes the array ["editor"] for the text "editor".
      if (request.some((part) => typeof part !== 'string')) {
        throw new TypeError('role key, domain, path and method must be strings')
      }
      const [allowed, row] = enforcer.enforceExSync(...request)
      const rule = ruleOf.get(row)
      if (rule === undefined) {
        if (allowed) throw new Error('Casbin allowed the request without naming a rule')
        return undefined
      }
      const known = decisions.get(rule)
      if (known?.allowed === allowed) return known
      const decision: Decision = Object.freeze({ allowed, step: 'rule', rule, revision })
      decisions.set(rule, decision)
      return decision
    },

    nearMisses: () => [],
  } as const)
}

function createEnforcer(definition: CasbinModel) {
  const { Enforcer, newModel } = loadCasbin()
  const { columns, effect, matcher } = definition
  const model = newModel()
  model.addDef('r', 'r', requestFields(definition).join(', '))
  model.addDef('p', 'p', columns.map(({ name }) => name).join(', '))
  model.addDef('e', 'e', effectTexts[effect])
  model.addDef('m', 'm', matcher)
  const enforcer = new Enforcer()
  enforcer.setModel(model)
  const assertion = model.model.get('p')?.get('p')
  if (assertion === undefined) throw new Error('Casbin did not accept the policy definition')
  return {
    enforcer,
    setRows(rows: string[][]) {
      assertion.policy = rows
    },
  }
}

/** In the order in which Casbin loads rules: by the column `priority`, if the model has it. */
function inOrder(rules: readonly Rule[], { columns }: CasbinModel): readonly Rule[] {
  const at = columns.findIndex(({ name }) => name === 'priority')
  if (at === -1) return rules
  const priority = ({ fields }: Rule) => Number(fields?.[at])
  return rules.toSorted((a, b) => priority(a) - priority(b))
}

type Inherits = (relation: string, role: string, parent: string, domain?: string) => boolean

/** Whether a name equals another or inherits from it, for each relation and domain. */
function* createRelations(inheritances: readonly Inheritance[]): Steps<Inherits> {
  const scopes = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>()
  for (const [scope, group] of byScope(inheritances)) {
    const ancestors = new Map<string, ReadonlySet<string>>()
    for (const [role, list] of yield* ancestorsInSteps(group)) ancestors.set(role, new Set(list))
    scopes.set(scope, ancestors)
  }
  return (relation, role, parent, domain) =>
    role === parent || scopes.get(scopeOf(relation, domain))?.get(role)?.has(parent) === true
}

/** Loaded for the first model that needs it, which few gateways have. */
function loadCasbin(): typeof Casbin {
  return createRequire(import.meta.url)('casbin')
}
