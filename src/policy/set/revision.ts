import { createHash } from 'node:crypto'
import type { Model } from '../model/model.ts'
import type { Exclusion, Inheritance, Rule } from '../rule/rule.ts'
import { type Expiring, formatUntil } from '../rule/until.ts'
import { rowsPerStep, type Steps } from '../steps.ts'
import type { Guardrail } from './guardrails.ts'

/** What a revision hashes: the meaning of a policy, not its files. */
export interface PolicyContent {
  readonly model: Model
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  readonly exclusions: readonly Exclusion[]
  /** Absent: the policy has none. */
  readonly guardrails?: readonly Guardrail[]
}

/** The keys of the parts of a policy, each once and in a canonical order. */
interface ContentKeys {
  readonly rules: Iterable<string>
  readonly inheritances: Iterable<string>
  readonly exclusions: Iterable<string>
  readonly guardrails: readonly string[]
}

/**
 * The name of a policy's content: `r-` and 32 hex digits. Equal for equal content, whatever the order
 * of the lines, their comments, files and repetitions. People approve revisions by name, and a
 * collision of 12 digits was found within minutes.
 */
export function* revisionInSteps(model: Model, keys: ContentKeys): Steps<string> {
  const hash = createHash('sha256')
  hash.update(`model\n${modelKey(model)}\n`)
  for (const part of ['rules', 'inheritances', 'exclusions', 'guardrails'] as const) {
    // Revisions of policies without guardrails keep the names that earlier versions gave them.
    if (part === 'guardrails' && keys.guardrails.length === 0) break
    hash.update(`${part}\n`)
    let lines = ''
    let count = 0
    for (const key of keys[part]) {
      lines += `${key}\n`
      if (++count % rowsPerStep !== 0) continue
      hash.update(lines)
      lines = ''
      yield
    }
    hash.update(lines)
  }
  return `r-${hash.digest('hex').slice(0, 32)}`
}

/**
 * The key of a line together with the moment from which it is ignored. Fields are not empty, so the
 * key of another line cannot contain what this appends.
 */
export function datedKey(key: string, { until }: Expiring): string {
  return until === undefined ? key : `${key}\0\0${formatUntil(until)}`
}

/** Equal for equal rules, whenever they expire. Fields contain no control characters, so NUL separates them. */
export function ruleKey(rule: Omit<Rule, 'origin'>): string {
  const { roleKey, path, method, effect, fields } = rule
  if (fields !== undefined) return fields.join('\0')
  return `${roleKey}\0${path}\0${method}\0${effect}`
}

/** Equal for equal inheritances, whenever they expire. */
export function inheritanceKey({ roleKey, parentKey, relation, domain }: Inheritance): string {
  if (relation === undefined && domain === undefined) return `${roleKey}\0${parentKey}`
  return [relation ?? 'g', roleKey, parentKey, ...(domain === undefined ? [] : [domain])].join('\0')
}

/** Equal for equal exclusions, including their reason, whenever they expire. */
export function exclusionKey({ method, path, reason }: Exclusion): string {
  return `${method}\0${path}\0${JSON.stringify(reason)}`
}

function modelKey(model: Model): string {
  const { inheritance, path, anyMethod, effectColumn, denyOverrides } = model
  const definition = model.casbin ?? model.definition
  if (definition !== undefined) {
    const { request, domain, columns, relations, effect, matcher } = definition
    const names = columns.map(({ name }) => name)
    // Without a domain, the member is absent: revisions of earlier versions keep their names.
    return JSON.stringify({ request, domain, names, relations, effect, matcher })
  }
  const { keyMatch, keyMatch2 } = path
  return JSON.stringify({
    inheritance,
    keyMatch,
    keyMatch2,
    anyMethod,
    effectColumn,
    denyOverrides,
  })
}
