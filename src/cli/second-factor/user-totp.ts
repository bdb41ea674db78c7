import { type Call, type Run, UsageError } from '../command.ts'
import { enroll } from './enroll.ts'
import { listEnrollments } from './list.ts'
import { newCodes } from './recovery.ts'
import { reencryptAll } from './reencrypt.ts'
import { removeEnrollment } from './remove.ts'
import type { totpSpec } from './specs.ts'

/** One-time codes of an account: enrolls, unless an option says otherwise. */
export const userTotp: Run<typeof totpSpec> = async (call, io) => {
  const [name] = call.arguments
  const action = actionOf(call.options)
  if (action === 'reencrypt') return reencryptAll(call.options, io)
  if (name === undefined || action === 'list') return listEnrollments(call.options, io)
  if (action === 'remove') return removeEnrollment(name, call.options, io)
  if (action === 'recovery-codes') return newCodes(name, call.options, io)
  return enroll(name, call.options, io)
}

type Options = Call<typeof totpSpec>['options']

const actions = ['list', 'reencrypt', 'remove', 'recovery-codes'] as const
const ofEnrolling = ['no-confirm', 'yes'] as const

function actionOf(options: Options): (typeof actions)[number] | 'enroll' {
  const [action, other] = actions.filter((each) => options[each])
  if (action === undefined) return 'enroll'
  const extra = other ?? ofEnrolling.find((each) => options[each])
  if (extra !== undefined) throw new UsageError(`--${action} cannot be combined with --${extra}`)
  return action
}
