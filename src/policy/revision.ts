import { createHash } from 'node:crypto'
import type { Model } from './model.ts'
import type { Exclusion, Inheritance, Rule } from './rule.ts'

/** What a revision is made of: the meaning of a policy, not the files it was written in. */
export interface PolicyContent {
  readonly model: Model
  readonly rules: readonly Rule[]
  readonly inheritances: readonly Inheritance[]
  readonly exclusions: readonly Exclusion[]
}

/**
 * The name of a policy's content: `r-` and 12 hex digits. Equal for equal content, however the lines
 * are ordered, commented, spread over files or repeated.
 */
export function revisionOf({ model, rules, inheritances, exclusions }: PolicyContent): string {
  const hash = createHash('sha256')
  const digestAll = (name: string, lines: Iterable<string>) => {
    hash.update(`${name}\n`)
    for (const line of [...new Set(lines)].sort()) hash.update(`${line}\n`)
  }

  hash.update(`model\n${modelKey(model)}\n`)
  digestAll('rules', rules.map(ruleKey))
  digestAll('inheritances', inheritances.map(inheritanceKey))
  digestAll('exclusions', exclusions.map(exclusionKey))
  return `r-${hash.digest('hex').slice(0, 12)}`
}

/** Equal for rules that say the same. No field holds a control character, so fields cannot mix. */
export function ruleKey({ roleKey, path, method, effect }: Rule): string {
  return `${roleKey}\0${path}\0${method}\0${effect}`
}

/** Equal for inheritances that say the same. */
export function inheritanceKey({ roleKey, parentKey }: Inheritance): string {
  return `${roleKey}\0${parentKey}`
}

/** Equal for exclusions that say the same, their reason included. */
export function exclusionKey({ method, path, reason }: Exclusion): string {
  return `${method}\0${path}\0${JSON.stringify(reason)}`
}

function modelKey({ inheritance, path, anyMethod, effectColumn, denyOverrides }: Model): string {
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
