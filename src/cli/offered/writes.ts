import { userDelete, userDisable } from '../../operations/accounts/descriptions.ts'
import { type Operation, offered } from './operations.ts'

const waiting = ['over', 'wait', 'replicas', 'no-wait', 'allow-lost'] as const
const publishing = { role: 'publisher', kind: 'change', needsThread: true } as const
const changing = { role: 'publisher', kind: 'change' } as const

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
  {
    ...{ command: 'policy propose', role: 'author', kind: 'change', needsThread: true },
    parameters: ['message', 'over', 'accounts', 'no-tests'],
    // Without it, a draft could undo what was published since it was begun.
    required: ['over'],
    revisions: ['over'],
    draft: 'dir',
  },
  {
    ...{ command: 'policy proposals', role: 'author', kind: 'change' },
    parameters: ['drop'],
    required: ['drop'],
    revisions: ['drop'],
    confirms: 'drop',
  },
  {
    ...{ command: 'policy approve', role: 'author', kind: 'change', needsThread: true },
    parameters: ['revision', 'signature'],
    required: ['signature'],
    revisions: ['revision'],
  },
  {
    ...{ command: 'policy push', ...publishing },
    parameters: ['revision', ...waiting],
    required: ['revision'],
    revisions: ['revision', 'over'],
    confirms: 'revision',
    fixed: ['--yes'],
  },
  {
    ...{ command: 'policy promote', ...publishing },
    parameters: ['revision', 'message', 'after', 'max-would-deny', ...waiting],
    revisions: ['revision', 'over'],
    confirms: 'revision',
    fixed: ['--yes'],
  },
  {
    ...{ command: 'policy rollback', ...publishing },
    parameters: ['revision', 'message', ...waiting],
    revisions: ['revision', 'over'],
    confirms: 'revision',
    fixed: ['--yes'],
  },
  { command: 'policy shadow', ...changing, parameters: ['end'], required: ['end'] },
  { command: 'user add', ...changing, parameters: ['name', 'role'] },
  { command: 'user passwd', ...changing, parameters: ['name'], confirms: 'name' },
  { command: 'user role', ...changing, parameters: ['name', 'role'], confirms: 'name' },
  offered(userDisable),
  { command: 'user enable', ...changing, parameters: ['name'] },
  offered(userDelete),
  { command: 'session end', ...changing, parameters: ['id', 'user'] },
  { command: 'login unlock', ...changing, parameters: ['user'] },
]
