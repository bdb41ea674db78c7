import type { Inputs } from '../../operations/input.ts'
import { checkInput, type Input } from '../../operations/offered/check-input.ts'
import { type Call, callsTo, hasFiles } from '../../operations/offered/offered.ts'
import { type Parameter, parametersOf } from '../../operations/offered/parameters.ts'
import type { Command, CommandSpec } from '../command.ts'

/** What the user typed, as far as they typed it, by the fields of the operation. */
export interface Args {
  readonly given: Inputs
  readonly output: string
}

/** The call of the management API that does what the command would do here. */
export interface CallPlan {
  readonly call: Call
  readonly input: Input
  /** The directory whose files are the draft. */
  readonly directory: string | undefined
}

/** Finds the call for a command line. Returns why there is none, in one line. */
export function chooseCall({ spec }: Command, { given }: Pick<Args, 'given'>): CallPlan | string {
  const tries = callsTo(spec.name)
    .filter(({ kind }) => kind !== 'review')
    .map((call) => tryCall(call, spec, given))
  const found = tries.find(({ strangers, problem }) => strangers.length + problem.length === 0)
  if (found !== undefined) return found.chosen
  const [nearest] = tries.toSorted(
    (left, right) =>
      left.strangers.length - right.strangers.length || left.problem.length - right.problem.length,
  )
  const [stranger] = nearest?.strangers ?? []
  if (nearest === undefined) return whyNotOffered(spec.name)
  if (stranger !== undefined) return whyNotPossible(spec.name, stranger)
  return `${nearest.problem[0]}${hintFor(spec.name)}`
}

interface Try {
  readonly chosen: CallPlan
  /** What the call does not take, as the user wrote it. */
  readonly strangers: readonly string[]
  /** What is wrong with the values; at most one line. */
  readonly problem: readonly string[]
}

function tryCall(call: Call, spec: CommandSpec, given: Inputs): Try {
  const { draft, confirms } = call.operation
  const accepted = parametersOf(call)
  const strangers: string[] = []
  const input: Record<string, string | number | boolean> = {}
  const files = hasFiles(call) ? draft?.field : undefined
  let directory: string | undefined
  for (const [name, value] of Object.entries(given)) {
    // Asking is for a terminal, which is here.
    if (value === undefined || name === 'yes') continue
    if (name === files) directory = String(value)
    else if (accepted.some((each) => each.name === name)) input[name] = value as string
    else strangers.push(shownName(name, spec))
  }
  const confirmed = confirms === undefined ? undefined : input[confirms]
  if (confirmed !== undefined) input['confirm'] = confirmed
  const missing = files !== undefined && directory === undefined ? [shownName(files, spec)] : []
  const problem = missing.map((name) => `${name} is required with --gateway: a policy directory`)
  problem.push(...problemWith(input, accepted, spec))
  return { chosen: { call, input, directory }, strangers, problem: problem.slice(0, 1) }
}

/** Says it in the words of the command line. */
function problemWith(
  input: Input,
  accepted: readonly Parameter[],
  spec: CommandSpec,
): readonly string[] {
  const shown = ({ name }: Parameter) => shownName(name, spec)
  const missing = accepted.find(({ name, isRequired }) => isRequired && !(name in input))
  if (missing !== undefined && missing.name !== 'confirm') {
    return [`${shown(missing)} is required with --gateway: ${missing.description}`]
  }
  const checked = checkInput(input, accepted, false)
  if (typeof checked !== 'string') return []
  const about = accepted.find(({ name }) => checked.startsWith(`${name} `))
  if (about === undefined) return [checked]
  return [`with --gateway, ${shown(about)}${checked.slice(about.name.length)}`]
}

/** `DIR`, or `--over`. */
function shownName(name: string, { arguments: all }: CommandSpec): string {
  const argument = all.find(({ field }) => field === name)
  return argument?.name ?? `--${name}`
}

/** What else a user can do, for the commands that the management API does not offer. */
const others: Readonly<Record<string, string>> = {
  serve: 'it runs on the machine of the gateway',
  console: 'it runs on the machine of the gateway',
  worker: 'it runs on the machine of the gateway',
  'config schema': 'it needs no gateway: leave --gateway out',
  'policy import': 'it needs a database: leave --gateway out',
  'token inspect': 'a token must not leave this machine: leave --gateway out',
  'keys generate': 'a private key must not leave its machine: leave --gateway out',
}

const elsewhere = 'run it on a machine that has the configuration of the gateway'

/** Why a command does not work with a gateway, in one line. */
function whyNotOffered(command: string): string {
  const known = Object.hasOwn(others, command) ? others[command] : undefined
  const reason = known ?? `the management API does not offer it: ${elsewhere}`
  return `"${command}" does not work with --gateway: ${reason}`
}

/** Why one argument or option of an offered command does not. */
function whyNotPossible(command: string, name: string): string {
  if (name === '--config') {
    return '--config does not work with --gateway: the console has its own configuration'
  }
  if (command === 'policy push' && name === '--message') {
    return `-m is for a directory${hintFor(command)}`
  }
  return `${name} does not work with --gateway: the management API does not accept it; leave it out, or run "${command}" on a machine that has the configuration of the gateway`
}

/** What to do in place of what the management API does not do. */
function hintFor(command: string): string {
  if (command !== 'policy push') return ''
  return ': name the policy directory to publish, or the revision of a proposal'
}
