import { nameProblem } from '../../stores/accounts/account-name.ts'
import { UnusableValue } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { changeConfigured } from './change-configured.ts'
import type { userRename } from './descriptions.ts'

export const run: RunOf<typeof userRename> = async ({ old: name, new: newName }, context) => {
  const problem = nameProblem(newName)
  if (problem !== undefined) throw new UnusableValue(problem)
  return changeConfigured({ verb: 'rename', name, newName }, context)
}
