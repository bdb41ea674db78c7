import { askedFields } from '../../operations/policy/fields.ts'
import { configOption } from '../command.ts'

/** The options by which a user says what a question is about. */
export const askedOptions = { ...askedFields, ...configOption } as const

/** The exit codes of a question about a policy that cannot be answered. */
export const couldNotAsk = {
  3: 'the policy or the configuration is not valid',
  5: 'Redis is unreachable, nothing is published, or the revision does not exist',
} as const
