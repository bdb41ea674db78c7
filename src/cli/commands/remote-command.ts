import type { Inputs } from '../../operations/input.ts'
import type { Command, CommandSpec } from '../command.ts'
import type { Io } from '../io.ts'
import { optionNames } from '../parse-arguments.ts'
import type { GatewayOptions } from '../remote/gateway.ts'
import { command } from './run-command.ts'

/** Runs a command at the console of a gateway; help and usage errors are those of the command. */
export async function runRemote(
  each: Command,
  args: readonly string[],
  gateway: GatewayOptions,
  io: Io,
): Promise<number> {
  const { spec, operation } = each
  const described: CommandSpec = {
    ...spec,
    // Scripts must be able to tell an unreachable console from an answer.
    exitCodes: { 5: 'the console is unreachable or refuses', ...spec.exitCodes },
  }
  const { run } = command(described, async () => {
    const [{ runOnGateway }, { propose, diff }] = await Promise.all([
      import('../remote/run.ts'),
      import('./policy.ts'),
    ])
    return (call, own) => {
      const typed = optionNames(spec, args)
      const { output = 'text', ...options } = call.options as Inputs
      const given = Object.fromEntries(Object.entries(options).filter(([name]) => typed.has(name)))
      const named = operation?.named(call.arguments as readonly unknown[])
      return runOnGateway(each, { given: { ...given, ...named }, output: `${output}` }, gateway, {
        ...{ propose, diff, io: own },
      })
    }
  })
  return run(args, io)
}
