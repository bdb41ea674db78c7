import {
  type Command,
  type CommandSet,
  type CommandSpec,
  type FindCommand,
  gatewayOptions,
} from '../command.ts'
import { completionSpec } from '../completion/specs.ts'
import { initSpec } from '../init/specs.ts'
import { programsOf } from '../io.ts'
import { consoleSpec, serveSpec, workerSpec } from '../program/specs.ts'
import { command } from './run-command.ts'
import {
  doctorCommand,
  fleetCommand,
  statusCommand,
  upstreamsCommand,
  versionCommand,
} from './running.ts'

/** Commands that share their first word. */
export interface Group {
  readonly name: string
  readonly summary: string
  readonly commands: () => Promise<readonly Command[]>
}

/** The commands of one word. */
export const commands: readonly (Command & { readonly isInternal?: true })[] = [
  command(initSpec, async () => (await import('../init/init.ts')).init),
  command(serveSpec, async () => async (call, io) => programsOf(io).serve(call.options, io)),
  command(consoleSpec, async () => async (call, io) => programsOf(io).console(call.options, io)),
  {
    ...command(workerSpec, async () => async (call, io) => programsOf(io).worker(call.options, io)),
    isInternal: true,
  },
  doctorCommand,
  statusCommand,
  fleetCommand,
  upstreamsCommand,
  command(completionSpec, async () => {
    const { completion } = await import('../completion/completion.ts')
    return async (call, io) => completion(call, io, await commandSet())
  }),
  versionCommand,
]

/** The commands of two words, by the first one. A group is loaded when the user names it. */
export const groups: readonly Group[] = [
  {
    name: 'config',
    summary: 'check and print the configuration',
    commands: async () => (await import('./config.ts')).configCommands,
  },
  {
    name: 'policy',
    summary: 'check, test, compare and publish policies',
    commands: async () => (await import('./policy.ts')).policyCommands,
  },
  {
    name: 'user',
    summary: 'manage the accounts in the configured database',
    commands: async () => (await import('./accounts.ts')).userCommands,
  },
  {
    name: 'role',
    summary: 'manage the roles of accounts',
    commands: async () => (await import('./roles.ts')).roleCommands,
  },
  {
    name: 'service',
    summary: 'manage the accounts of programs',
    commands: async () => (await import('./services.ts')).serviceCommands,
  },
  {
    name: 'token',
    summary: 'issue, list, inspect and revoke tokens',
    commands: async () => (await import('./accounts.ts')).tokenCommands,
  },
  {
    name: 'session',
    summary: 'list who is logged in, and end sessions',
    commands: async () => (await import('./sessions.ts')).sessionCommands,
  },
  {
    name: 'login',
    summary: 'list login attempts and lock-outs, and end lock-outs',
    commands: async () => (await import('./logins.ts')).loginCommands,
  },
  {
    name: 'gateway',
    summary: 'log in to the console of a gateway, to use commands from your own machine',
    commands: async () => (await import('./gateway.ts')).gatewayCommands,
  },
  {
    name: 'db',
    summary: 'prepare the configured database',
    commands: async () => (await import('./accounts.ts')).dbCommands,
  },
  {
    name: 'audit',
    summary: 'show who changed accounts, roles, keys, sessions and policies',
    commands: async () => (await import('./audit.ts')).auditCommands,
  },
  {
    name: 'keys',
    summary: 'manage the keys that sign tokens',
    commands: async () => (await import('./keys.ts')).keysCommands,
  },
]

/** Every command that users call, by group, with the options that all of them have. */
export async function commandSet(): Promise<CommandSet> {
  const members = groups.map(async ({ name, summary, commands: load }) => {
    return { name, summary, commands: (await load()).map(({ spec }) => spec) }
  })
  return {
    commands: commands.filter(({ isInternal }) => !isInternal).map(({ spec }) => spec),
    groups: await Promise.all(members),
    common: gatewayOptions,
  }
}

/** `push` of `policy push`. */
export function nameInGroup({ name }: CommandSpec): string {
  return name.slice(name.indexOf(' ') + 1)
}

/** Finds a command by its words. An internal one is not found. */
export const findCommand: FindCommand = async (name) => {
  const group = groups.find((each) => name.startsWith(`${each.name} `))
  const candidates =
    (await group?.commands()) ?? commands.filter(({ isInternal }) => isInternal !== true)
  return candidates.find(({ spec }) => spec.name === name)
}
