import {
  userAdd,
  userDelete,
  userDisable,
  userEnable,
  userPasswd,
  userRole,
} from '../../operations/accounts/descriptions.ts'
import { loginUnlock } from '../../operations/logins/descriptions.ts'
import {
  policyApprove,
  policyPromote,
  policyProposalDrop,
  policyPropose,
  policyPush,
  policyRollback,
  policyShadowEnd,
} from '../../operations/publish/descriptions.ts'
import { sessionEnd } from '../../operations/sessions/descriptions.ts'
import { type Operation, offered } from './operations.ts'

/** What needs a draft in the body and changes nothing: an author looks at it before it is proposed. */
export const draftOperations: readonly Operation[] = [
  {
    ...{ command: 'policy check', role: 'author', kind: 'draft', needsThread: true },
    parameters: ['strict', 'against', 'accounts'],
    revisions: ['against'],
    draft: 'dir',
  },
  {
    ...{ command: 'policy test', role: 'author', kind: 'draft', needsThread: true },
    parameters: ['min-coverage'],
    draft: 'dir',
  },
  {
    ...{ command: 'policy diff', role: 'author', kind: 'draft', needsThread: true },
    parameters: ['from', 'this-gateway'],
    required: ['from'],
    revisions: ['from'],
    draft: 'to',
  },
  {
    // The log is that of the configuration: callers name no file.
    ...{ command: 'policy replay', role: 'author', kind: 'draft', needsThread: true },
    parameters: ['since'],
    draft: 'policies',
  },
  {
    ...{ command: 'policy denials', role: 'author', kind: 'draft', needsThread: true },
    parameters: ['since', 'limit', 'domain', 'host'],
    draft: 'policies',
  },
]

/**
 * What changes something: only with `console.write`, and after a password or code. Those that a person
 * could start by mistake need the name or revision a second time, as `confirm`. An approval is a
 * signature by a private key, which stays with its owner: callers send the signature.
 */
export const writeOperations: readonly Operation[] = [
  { ...offered(policyPropose), draft: 'dir' },
  ...[policyProposalDrop, policyApprove].map(offered),
  ...[policyPush, policyPromote, policyRollback].map((each) => ({
    ...{ ...offered(each), fixed: ['--yes'] },
  })),
  offered(policyShadowEnd),
  ...[userAdd, userPasswd, userRole, userDisable, userEnable, userDelete].map(offered),
  ...[sessionEnd, loginUnlock].map(offered),
]
