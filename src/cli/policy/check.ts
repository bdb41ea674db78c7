import {
  type EngineReport,
  engineInWords,
  reportEngine,
} from '../../operations/policy/engine-cost.ts'
import { type Review, reviewVersion } from '../../operations/policy/review.ts'
import { readSurroundings } from '../../operations/policy/surroundings.ts'
import { policySettings } from '../../operations/policy-settings.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, printable } from '../format.ts'
import { renderReport } from '../report/write.ts'
import { checkReport } from './check-report.ts'
import { findingRules } from './finding-rules.ts'
import { countByCode, formatFindings } from './findings.ts'
import type { checkSpec } from './specs.ts'

/** Validates a policy directory and names the engine that evaluates it. */
export const policyCheck: Run<typeof checkSpec> = async ({ options, arguments: [named] }, io) => {
  const settings = policySettings(options.config, io)
  const name = named ?? settings.directory
  const review = await reviewVersion(name, { settings, io }, () =>
    readSurroundings(settings, options, io),
  )
  const { set, errors, warnings } = review
  const ok = errors.length === 0 && !(options.strict && warnings.length > 0)

  const { output, strict } = options
  const engine = set && reportEngine(set, io)
  const summary = set && engine ? summarize(name, { set, engine, warnings: warnings.length }) : []
  // Annotations have the findings already, and JSON stays quiet for scripts.
  if (output !== 'json' && output !== 'github') {
    io.err(formatFindings('error', errors) + formatFindings('warning', warnings))
    if (warnings.length > mostCountedByEye) io.err(formatCounts(warnings))
  }
  if (output === 'json') io.out(json({ ok, ...asJson(review, engine) }))
  else if (output === 'text') io.out(summary.map((line) => `${line}\n`).join(''))
  else io.out(renderReport(checkReport(review, { strict, summary }), output, io))
  return ok ? exitCodes.done : exitCodes.invalid
}

/** More warnings than a person counts, or reads to the end. */
const mostCountedByEye = 20

function formatCounts(warnings: Review['warnings']): string {
  const rows = countByCode(warnings).map(([code, number]) => {
    return [String(number), code, findingRules[code].summary]
  })
  return `${count(warnings.length, 'warning')} by code:\n${formatTable(rows, '  ')}`
}

/** What the policy holds, and which engine evaluates it. */
function summarize(
  name: string,
  { set, engine, warnings }: { set: PolicySet; engine: EngineReport; warnings: number },
): readonly string[] {
  const facts = [
    count(set.rules.length, 'rule'),
    count(rolesOf(set), 'role'),
    count(set.exclusions.length, 'exclusion'),
    count(warnings, 'warning'),
  ]
  const superusers = superusersOf(set).map(({ role, inherited, clause }) => {
    const who = inherited ? `${role} and every role that inherits from it` : role
    return printable(`superuser: ${who}, by ${clause} in the matcher`)
  })
  return [
    `${name}: valid, ${set.revision} (${facts.join(', ')})`,
    ...engineInWords(engine),
    ...superusers,
  ]
}

function asJson({ directory, set, errors, warnings }: Review, engine: EngineReport | undefined) {
  const facts = set && {
    revision: set.revision,
    engine,
    superusers: superusersOf(set),
    rules: set.rules.length,
    roles: rolesOf(set),
    exclusions: set.exclusions.length,
  }
  return { directory: directory.name, ...facts, errors, warnings }
}

function superusersOf({ model: { superusers = [] } }: PolicySet) {
  return superusers.map(({ roleKey: role, inherited, text: clause }) => ({
    role,
    inherited,
    clause,
  }))
}

function rolesOf({ rules, inheritances }: PolicySet): number {
  return new Set([...rules, ...inheritances].map(({ roleKey }) => roleKey)).size
}
