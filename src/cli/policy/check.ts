import { engineFor } from '../../policy/model/engine-for.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { count, json, policyCommand } from '../command.ts'
import { policySettings } from '../settings.ts'
import { formatFindings, type Review, reviewDirectory } from './review.ts'

const help = `usage: postern policy check [DIR] [--strict] [--output text|json] [--config FILE]

Reads a policy directory and its tests and says what cannot be used (errors) and what is probably
not meant (warnings): repeated and useless rules, rules that never apply, roles that nothing is
granted to, deny rules that deny nothing, exclusions that look like business endpoints. Needs no
network.

  postern policy check                     the directory of the configuration, else policies
  postern policy check ../new-policies     another one
  postern policy check --strict            warnings count as errors: for CI
  postern policy check --output json | jq -r '.warnings[] | "\\(.file):\\(.line) \\(.message)"'

Exit codes: 0 usable, 3 not usable (with --strict: or warnings), 2 bad arguments.
`

/** Says whether a policy directory can be used, what is doubtful in it, and which engine answers. */
export const policyCheck = policyCommand(
  { help, options: { strict: { type: 'boolean' } }, positionals: [0, 1] },
  async ({ values, positionals: [named], output }, io) => {
    const name = named ?? policySettings(values.config, io).directory
    const review = await reviewDirectory(name, io)
    const { set, errors, warnings } = review
    const ok = errors.length === 0 && !(values.strict && warnings.length > 0)

    if (output === 'json') io.out(json({ ok, ...asJson(review) }))
    else {
      io.err(formatFindings('error', errors) + formatFindings('warning', warnings))
      if (set !== undefined) io.out(summary(name, set, warnings.length))
    }
    return ok ? 0 : 3
  },
)

function summary(name: string, set: PolicySet, warnings: number): string {
  const engine = engineFor(set.model)
  const facts = [
    count(set.rules.length, 'rule'),
    count(rolesOf(set), 'role'),
    count(set.exclusions.length, 'exclusion'),
    count(warnings, 'warning'),
  ]
  return `${name}: usable, ${set.revision} (${facts.join(', ')})\nengine: ${engine.name}, because ${engine.reason}\n`
}

function asJson({ directory, set, errors, warnings }: Review) {
  const facts = set && {
    revision: set.revision,
    engine: engineFor(set.model),
    rules: set.rules.length,
    roles: rolesOf(set),
    exclusions: set.exclusions.length,
  }
  return { directory: directory.name, ...facts, errors, warnings }
}

function rolesOf({ rules, inheritances }: PolicySet): number {
  return new Set([...rules, ...inheritances].map(({ roleKey }) => roleKey)).size
}
