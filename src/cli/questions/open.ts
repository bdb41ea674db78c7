import { openEndpoints } from '../../answers/open.ts'
import { otherTokens } from '../../answers/other-tokens.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable } from '../format.ts'
import { datedJson } from '../policy/dated-json.ts'
import { askedPolicy, policyName } from '../../operations/policy/asked-policy.ts'
import { printNotes } from './notes.ts'
import { formatIdleExclusions, formatOpen, formatOtherTokens } from './open-table.ts'
import type { openSpec } from './specs.ts'

/** Shows every endpoint that needs no permission, and why. */
export const policyOpen: Run<typeof openSpec> = async ({ options }, io) => {
  const asked = await askedPolicy(options, io, 'optional')
  const answer = openEndpoints(asked)
  const { config } = asked.settings
  const others = config && otherTokens(config)
  if (options.output === 'json') {
    const { name: policy, policies, notes } = asked
    io.out(
      datedJson({
        ...answer,
        otherTokens: others ?? null,
        policy,
        revision: policies.revision,
        notes,
      }),
    )
    return exitCodes.done
  }
  const { endpoints, routes, exclusions } = answer
  const effective = exclusions.filter(({ effect }) => effect !== 'none').length
  const found = [
    count(endpoints.length, 'endpoint of the gateway', 'endpoints of the gateway'),
    count(routes.length, 'route'),
    count(effective, 'exclusion'),
  ]
  io.out(`no permission needed: ${found.join(', ')}\n`)
  io.out(formatTable([['policy', policyName(asked)]], '  '))
  io.out(formatOpen(answer))
  io.out(formatIdleExclusions(answer))
  io.out(formatOtherTokens(others ?? []))
  printNotes(asked.notes, io)
  return exitCodes.done
}
