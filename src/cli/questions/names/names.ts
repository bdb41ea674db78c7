import { namesIn } from '../../../answers/names.ts'
import type { Run } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { count, formatTable, json } from '../../format.ts'
import { askedPolicy, policyName } from '../../../operations/policy/asked-policy.ts'
import { printNotes } from '../notes.ts'
import { readDocumented } from '../../../operations/policy/documented.ts'
import type { namesSpec } from './specs.ts'

/** Lists what other questions can be about. */
export const policyNames: Run<typeof namesSpec> = async ({ options }, io) => {
  const asked = await askedPolicy(options, io, 'optional')
  const documented = await readDocumented(asked.settings, io)
  const { roles, operations } = namesIn(asked, documented.operations)
  const { name: policy, policies } = asked
  const notes = [...asked.notes, ...documented.notes]
  if (options.output === 'json') {
    io.out(json({ roles, operations, policy, revision: policies.revision, notes }))
    return exitCodes.done
  }
  const found = [count(roles.length, 'role'), count(operations.length, 'operation')]
  io.out(`${found.join(', ')}\n`)
  io.out(formatTable([['policy', policyName(asked)]], '  '))
  io.out(formatTable([['ROLE'], ...roles.map((roleKey) => [roleKey])], '  '))
  const rows = operations.map(({ method, path, from }) => [method, path, from.join(', ')])
  io.out(formatTable([['METHOD', 'PATH', 'FROM'], ...rows], '  '))
  printNotes(notes, io)
  return exitCodes.done
}
