import type { CommandSpec } from '../command.ts'
import { checkInput, type Input } from '../offered/check-input.ts'
import { type Operation, offeredOperations } from '../offered/operations.ts'
import { type Parameter, parametersOf } from '../offered/parameters.ts'

/** What the user typed, as far as they typed it. */
export interface Typed {
  /** The values of the options that were given; `true` for a flag. */
  readonly options: ReadonlyMap<string, string | number | boolean>
  /** In the order of the specification; `undefined`: not given. */
  readonly arguments: readonly (string | undefined)[]
}

/** The operation of the management API that does what the command would do here. */
export interface Chosen {
  readonly operation: Operation
  readonly input: Input
  /** The directory whose files are the draft. */
  readonly directory: string | undefined
}

/** Finds the operation for a command line. Returns why there is none, in one line. */
export function chooseOperation(spec: CommandSpec, typed: Typed): Chosen | string {
  const tries = offeredOperations
    .filter(({ command }) => command === spec.name)
    .map((operation) => tryOperation(operation, spec, typed))
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
  readonly chosen: Chosen
  /** What the operation does not take, as the user wrote it. */
  readonly strangers: readonly string[]
  /** What is wrong with the values; at most one line. */
  readonly problem: readonly string[]
}

function tryOperation(operation: Operation, spec: CommandSpec, typed: Typed): Try {
  const { parameters: offered = [], draft, confirms } = operation
  const accepted = parametersOf(operation, spec)
  const strangers: string[] = []
  const input: Record<string, string | number | boolean> = {}
  let directory: string | undefined
  for (const [at, { name }] of spec.arguments.entries()) {
    const value = typed.arguments[at]
    if (value === undefined) continue
    const names = name.toLowerCase().split('|')
    const own = names.find((each) => offered.includes(each))
    if (draft !== undefined && names.includes(draft)) directory = value
    else if (own === undefined) strangers.push(name)
    else input[own] = value
  }
  for (const [name, value] of typed.options) {
    // Asking is for a terminal, which is here.
    if (name === 'yes') continue
    if (name === draft) directory = String(value)
    else if (accepted.some((each) => each.name === name)) input[name] = value
    else strangers.push(`--${name}`)
  }
  const isTexted = spec.options['output'] !== undefined && input['output'] === undefined
  if (isTexted) input['output'] = 'text'
  const confirmed = confirms === undefined ? undefined : input[confirms]
  if (confirmed !== undefined) input['confirm'] = confirmed
  const missing = draft !== undefined && directory === undefined ? [shownName(draft, spec)] : []
  const problem = missing.map((name) => `${name} is required with --gateway: a policy directory`)
  problem.push(...problemWith(input, accepted, spec))
  return { chosen: { operation, input, directory }, strangers, problem: problem.slice(0, 1) }
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
  const argument = all.find((each) => each.name.toLowerCase().split('|').includes(name))
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
