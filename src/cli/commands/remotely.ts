import type { Command, CommandSpec } from '../command.ts'
import type { Io } from '../io.ts'
import { givenOptions } from '../parse-arguments.ts'
import type { GatewayOptions } from '../remote/gateway.ts'
import { propose } from './publishing.ts'
import { command } from './run-command.ts'

/** Runs a command at the console of a gateway; help and usage errors are those of the command. */
export async function remotely(
  { spec }: Pick<Command, 'spec'>,
  args: readonly string[],
  gateway: GatewayOptions,
  io: Io,
): Promise<number> {
  const asking: CommandSpec = {
    ...spec,
    // Scripts must be able to tell an unreachable console from an answer.
    exitCodes: { 5: 'the console is unreachable or refuses', ...spec.exitCodes },
  }
  const { run } = command(asking, async () => {
    const { runRemotely } = await import('../remote/run.ts')
    return (call, own) => {
      const given = givenOptions(spec, args)
      const options = new Map(Object.entries(call.options).filter(([name]) => given.has(name)))
      const typed = { options, arguments: call.arguments as readonly (string | undefined)[] }
      return runRemotely(spec, typed as Parameters<typeof runRemotely>[1], gateway, {
        propose: propose.spec,
        io: own,
      })
    }
  })
  return run(args, io)
}
