import {
  userAdd,
  userDelete,
  userDisable,
  userEnable,
  userList,
  userPasswd,
  userRole,
  userShow,
} from '../../operations/accounts/descriptions.ts'
import { auditList } from '../../operations/audit/descriptions.ts'
import { configCheck, configPrint } from '../../operations/config/descriptions.ts'
import { keysList } from '../../operations/keys/descriptions.ts'
import { loginList, loginLocks, loginUnlock } from '../../operations/logins/descriptions.ts'
import type { Description } from '../../operations/operation.ts'
import { policyCheck, policyDiff, policyTest } from '../../operations/policy/check-descriptions.ts'
import {
  policyCan,
  policyExplain,
  policyFiles,
  policyGuard,
  policyHistory,
  policyMatrix,
  policyNames,
  policyOpen,
  policyWho,
} from '../../operations/policy/descriptions.ts'
import { policyDenials, policyUnused } from '../../operations/policy/evidence-descriptions.ts'
import {
  policyApprove,
  policyPromote,
  policyProposalDrop,
  policyProposals,
  policyPropose,
  policyPush,
  policyRollback,
  policyShadow,
  policyShadowEnd,
  policyStatus,
} from '../../operations/publish/descriptions.ts'
import { roleList, roleShow } from '../../operations/roles/descriptions.ts'
import { fleet, status, upstreams, version } from '../../operations/running/descriptions.ts'
import { serviceList, tokenList } from '../../operations/services/descriptions.ts'
import { sessionEnd, sessionList } from '../../operations/sessions/descriptions.ts'

/**
 * A command that the management API offers. Of an operation, callers may set all fields of its input but local ones. Of
 * other commands, what they may set is listed here, option by option: a new option reaches the API only
 * by a change of this table. Options that name files, directories, URLs or tokens stay out.
 */
export interface Operation {
  /** Its words, such as `policy who`; with slashes between them they are the path. */
  readonly command: string
  /** The console role that it needs. */
  readonly role: Exclude<Description['access'], 'local'>
  /** A `question` is a GET. A `draft` is a question with files in the body, a `change` a POST too. */
  readonly kind?: 'draft' | 'change'
  /** Arguments, in lower case, and options that callers may set. */
  readonly parameters?: readonly string[]
  /** It reads a policy, which takes CPU: it runs in the thread for questions. */
  readonly needsThread?: true
  /** Those that must name a published policy, although the command also reads directories. */
  readonly revisions?: readonly string[]
  /** Those that the API needs, although the command does not. */
  readonly required?: readonly string[]
  /** The option or the last argument that is a directory with the files of the body. */
  readonly draft?: string
  /** The parameter whose value the caller must repeat as `confirm`. */
  readonly confirms?: string
  /** At a terminal, people see what would change and are asked before it is sent. */
  readonly asksFirst?: true
}

/** What readers may ask. */
export const questions: readonly Operation[] = [
  ...[version, status, upstreams, fleet, configCheck, configPrint].map(offered),
  ...[policyCheck, policyTest].map(offered),
  ...[policyExplain, policyWho, policyCan, policyOpen, policyGuard, policyMatrix].map(offered),
  ...[policyUnused, policyDenials, policyDiff, policyProposals, policyShadow].map(offered),
  ...[policyNames, policyFiles, policyStatus, policyHistory].map(offered),
  ...[userList, userShow, roleList, roleShow, serviceList, tokenList, sessionList].map(offered),
  ...[loginList, loginLocks, auditList, keysList].map(offered),
]

const drafted = { role: 'author', kind: 'draft', needsThread: true } as const

/** What needs a draft in the body and changes nothing: an author looks at it before it is proposed. */
export const draftOperations: readonly Operation[] = [
  {
    ...{ ...drafted, command: 'policy check', draft: 'dir' },
    parameters: ['strict', 'against', 'accounts'],
    revisions: ['against'],
  },
  { ...drafted, command: 'policy test', draft: 'dir', parameters: ['min-coverage'] },
  {
    ...{ ...drafted, command: 'policy diff', draft: 'to' },
    parameters: ['from', 'this-gateway'],
    required: ['from'],
    revisions: ['from'],
  },
  // The log is that of the configuration: callers name no file.
  { ...drafted, command: 'policy replay', draft: 'policies', parameters: ['since'] },
  {
    ...{ ...drafted, command: 'policy denials', draft: 'policies' },
    parameters: ['since', 'limit', 'domain', 'host'],
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
  ...[policyPush, policyPromote, policyRollback, userDelete].map((each) => ({
    ...{ ...offered(each), asksFirst: true as const },
  })),
  ...[policyShadowEnd, userAdd, userPasswd, userRole, userDisable, userEnable].map(offered),
  ...[sessionEnd, loginUnlock].map(offered),
]

/** All that the API offers. */
export const offeredOperations = [...questions, ...draftOperations, ...writeOperations]

/** What the API accepts of an operation. Throws for one that it must not offer. */
function offered({ name, access, kind, input, ...rest }: Description): Operation {
  if (access === 'local') throw new Error(`${name} is never offered over the network`)
  const parameters = Object.keys(input).filter((field) => !input[field]?.local)
  const revisions = parameters.filter((field) => input[field]?.published)
  const required = parameters.filter((field) => input[field]?.needed)
  const { needsThread, confirms } = rest
  return {
    ...{ command: name, role: access, parameters, revisions, required },
    ...(kind === 'change' && { kind }),
    ...(needsThread && { needsThread }),
    ...(confirms !== undefined && { confirms }),
  }
}
