import type { RunOf } from '../operation.ts'
import { changeConfigured } from './change-configured.ts'
import type { userDisable } from './descriptions.ts'

export const run: RunOf<typeof userDisable> = ({ name, force }, context) =>
  changeConfigured({ verb: 'disable', name, force }, context)
