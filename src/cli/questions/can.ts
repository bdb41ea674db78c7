import { rolesIn } from '../../answers/asked.ts'
import { can } from '../../answers/can.ts'
import { openEndpoints } from '../../answers/open.ts'
import { decline } from '../../operations/declined.ts'
import { didYouMean } from '../../suggest.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { datedJson } from '../policy/dated-json.ts'
import { type AskedPolicy, askedPolicy, policyName } from '../../operations/policy/asked-policy.ts'
import { compareRoles } from './can-compare.ts'
import { formatCan, isAllowing } from './can-table.ts'
import { canCsv } from './csv/can.ts'
import { inexact, printNotes } from './notes.ts'
import { formatOpen } from './open-table.ts'
import type { canSpec } from './specs.ts'

/** Shows everything that a role may do, or what it may do and another may not. */
export const policyCan: Run<typeof canSpec> = async ({ options, arguments: given }, io) => {
  const [roleKey] = given
  const asked = await askedPolicy(options, io)
  for (const each of [roleKey, options.compare]) {
    if (each !== undefined) requireRole(each, asked)
  }
  const { compare } = options
  if (compare !== undefined) return compareRoles(asked, [roleKey, compare], options.output, io)

  const answer = can(asked, roleKey)
  const open = openEndpoints(asked)
  const notes = [...asked.notes, ...(answer.isExact ? [] : inexact(asked, answer.unasked))]
  if (options.output === 'json') {
    const { name: policy, policies } = asked
    io.out(datedJson({ ...answer, open, policy, revision: policies.revision, notes }))
  } else if (options.output === 'csv') {
    io.out(canCsv(answer))
    printNotes(notes, io)
  } else {
    io.out(formatCan(answer, policyName(asked)))
    if (answer.unrestricted === undefined) io.out(formatOpen(open))
    printNotes(notes, io)
  }
  return answer.unrestricted !== undefined ||
    answer.routes.some(({ rules }) => rules.some(isAllowing))
    ? exitCodes.done
    : exitCodes.no
}

function requireRole(roleKey: string, { whole, name }: AskedPolicy): void {
  const roles = rolesIn(whole)
  // Only its matcher knows which roles a model that Casbin evaluates allows.
  if (roleKey === 'admin' || roles.includes(roleKey) || whole.model.casbin !== undefined) return
  decline(
    `${name} does not name the role ${JSON.stringify(roleKey)}, so it may only do what every authenticated caller may ("postern policy open")${didYouMean(roleKey, roles)}`,
  )
}
