import { type Command, type CommandSpec, print, type Run } from '../command.ts'
import { commandHelp } from '../help.ts'
import { asksForHelp, parseArguments } from '../parse-arguments.ts'
import { commandFailure } from './failure.ts'

/**
 * Combines the specification of a command with its code, which is loaded only to do the work: help
 * and usage errors need neither Redis nor a database driver.
 */
export function command<const Spec extends CommandSpec>(
  spec: Spec,
  load: () => Promise<Run<Spec>>,
): Command {
  return {
    spec,
    async run(args, io) {
      if (asksForHelp(spec, args)) {
        io.out(commandHelp(spec))
        return 0
      }
      let output: unknown
      try {
        const call = parseArguments(spec, args)
        output = (call.options as { readonly output?: unknown }).output
        const run = await load()
        return await run(call, io)
      } catch (error) {
        return print(await commandFailure(error, spec, { output, place: io }), io)
      }
    },
  }
}
