import type { CommandSpec } from '../command.ts'
import { listHelp } from '../help.ts'
import { commandSet, type Group, nameInGroup } from './table.ts'

/** The specification of every command that users call, group by group. */
export async function allCommands(): Promise<readonly CommandSpec[]> {
  const { commands, groups } = await commandSet()
  return [...commands, ...groups.flatMap((group) => group.commands)]
}

/** `postern help`. */
export async function programHelp(): Promise<string> {
  return listHelp({
    usage: 'postern COMMAND [ARGUMENTS] [OPTIONS]',
    summary: 'API gateway that authenticates and authorizes each call before forwarding it',
    commands: (await allCommands()).map(({ name, summary }) => [name, summary] as const),
    more: programOptions,
  })
}

const programOptions = `Options:
  -h, --help     show this help
  -V, --version  show the version, commit, Node version and platform

Options to let the console of a gateway run a command:
  --gateway URL   its URL (default: $POSTERN_GATEWAY); "gateway login" logs in
  --ca-file FILE  certificates to trust instead of the system certificates
  --allow-http    use http to an address that is not loopback: passwords are
                  not encrypted

Exit codes:
  0  success
  1  failure, or the answer is no
  2  bad usage
  3  the configuration, the policy or another file is not valid
  4  a policy test failed

Run "postern COMMAND --help" for options and examples.
`

/** `postern help GROUP`. */
export async function groupHelp({ name, summary, commands: load }: Group): Promise<string> {
  return listHelp({
    usage: `postern ${name} COMMAND [ARGUMENTS] [OPTIONS]`,
    summary,
    commands: (await load()).map(({ spec }) => [nameInGroup(spec), spec.summary] as const),
    more: `Run "postern ${name} COMMAND --help" for options, exit codes and examples.\n`,
  })
}
