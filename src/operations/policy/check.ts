import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { RunOf } from '../operation.ts'
import { policySettings } from '../policy-settings.ts'
import type { policyCheck } from './check-descriptions.ts'
import { reportEngine } from './engine-cost.ts'
import { linesOf, type ReviewedLines, reviewVersion } from './review.ts'
import { readSurroundings } from './surroundings.ts'

/** Validates a policy directory and names the engine that evaluates it. */
export const run: RunOf<typeof policyCheck, ReviewedLines> = async (input, context) => {
  const settings = policySettings(context.configFile, context)
  const around = { ...input, config: context.configFile }
  const review = await reviewVersion(
    input.dir ?? settings.directory,
    { settings, io: context },
    () => readSurroundings(settings, around, context),
  )
  const { directory, set, errors, warnings } = review
  const ok = errors.length === 0 && !(input.strict && warnings.length > 0)
  const facts = set && {
    ...{ revision: set.revision, engine: reportEngine(set, context) },
    ...{ superusers: superusersOf(set), rules: set.rules.length },
    ...{ roles: rolesOf(set), exclusions: set.exclusions.length },
  }
  return {
    document: { ok, directory: directory.name, ...facts, errors, warnings },
    outcome: ok ? 'done' : 'invalid',
    shown: linesOf(review),
  }
}

function superusersOf({ model: { superusers = [] } }: PolicySet) {
  return superusers.map(({ roleKey: role, inherited, text: clause }) => ({
    ...{ role, inherited, clause },
  }))
}

function rolesOf({ rules, inheritances }: PolicySet): number {
  return new Set([...rules, ...inheritances].map(({ roleKey }) => roleKey)).size
}
