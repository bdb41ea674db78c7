import * as accounts from '../accounts/accounts.ts'
import * as audit from '../audit/audit.ts'
import * as config from '../config/config.ts'
import * as keys from '../keys/keys.ts'
import * as logins from '../logins/logins.ts'
import type { AnyOperation } from '../operation.ts'
import * as policy from '../policy/policy.ts'
import * as publish from '../publish/publish.ts'
import * as roles from '../roles/roles.ts'
import * as running from '../running/running.ts'
import * as services from '../services/services.ts'
import * as sessions from '../sessions/sessions.ts'

/**
 * What callers over the network may ask or change: an operation that is not here is not offered. They may set all
 * fields of its input but local ones. Files, directories, addresses and tokens are local.
 */
const offered: readonly AnyOperation[] = [
  ...[running.version, running.status, running.upstreams, running.fleet],
  ...[config.configCheck, config.configPrint],
  ...[policy.policyCheck, policy.policyTest, policy.policyExplain, policy.policyWho],
  policy.policyBlame,
  ...[
    policy.policySimulate,
    policy.policyCan,
    policy.policyOpen,
    policy.policyGuard,
    policy.policyMatrix,
  ],
  ...[policy.policyUnused, policy.policyDenials, policy.policyDiff, policy.policyReplay],
  ...[publish.policyProposals, publish.policyShadow],
  ...[policy.policyNames, policy.policyFiles, publish.policyStatus, policy.policyHistory],
  ...[accounts.userList, accounts.userShow, roles.roleList, roles.roleShow],
  ...[services.serviceList, services.tokenList, sessions.sessionList],
  ...[logins.loginList, logins.loginLocks, audit.auditList, keys.keysList],
  ...[publish.policyPropose, publish.policyProposalDrop, publish.policyApprove],
  ...[publish.policyPush, publish.policyPromote, publish.policyRollback, accounts.userDelete],
  ...[publish.policyShadowEnd, accounts.userAdd, accounts.userPasswd, accounts.userRole],
  ...[accounts.userDisable, accounts.userEnable, sessions.sessionEnd, logins.loginUnlock],
]

/**
 * A `draft` is a question about files that the caller sends. A `review` says what a change would do, and needs its
 * `confirm` for nothing.
 */
export type CallKind = 'question' | 'draft' | 'review' | 'change'

/** One way to call an operation: a path and method of the management API. */
export interface Call {
  readonly kind: CallKind
  readonly operation: AnyOperation
  /** The console role that it needs. */
  readonly role: Role
}

type Role = Exclude<AnyOperation['access'], 'local'>

/** All calls of the management API. */
export const calls: readonly Call[] = offered.flatMap((operation) => {
  const { name, access: role, kind, draft, confirms, plan } = operation
  if (role === 'local') throw new Error(`${name} is never offered over the network`)
  const call = (each: CallKind, needed: Role = role) => ({ kind: each, operation, role: needed })
  if (kind === 'change') {
    const isReviewed = plan !== undefined && confirms !== undefined
    return isReviewed ? [call('review'), call('change')] : [call('change')]
  }
  // An author looks at a draft before it is proposed.
  const drafts = draft === undefined ? [] : [call('draft', 'author')]
  return draft?.isNeeded ? drafts : [call('question'), ...drafts]
})

/** The calls of the operations with this name: a question and a change may have the same one. */
export function callsTo(name: string): readonly Call[] {
  return calls.filter(({ operation }) => operation.name === name)
}

/** The path below the prefix of the API. */
export function pathOf({ operation }: Call): string {
  return operation.name.replaceAll(' ', '/')
}

/** The others are GET requests. */
export function isPost({ kind }: Pick<Call, 'kind'>): boolean {
  return kind === 'draft' || kind === 'change'
}

/** Whether the caller sends the files of a directory. */
export function hasFiles({ kind, operation }: Call): boolean {
  return operation.draft !== undefined && isPost({ kind })
}
