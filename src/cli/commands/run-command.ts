import { Invalid } from '../../errors.ts'
import { NotPermitted } from '../../operations/declined.ts'
import { InvalidInput } from '../../operations/invalid-input.ts'
import { type Command, type CommandSpec, type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import { commandHelp, usageLines } from '../help.ts'
import type { Io } from '../io.ts'
import { asksForHelp, parseArguments } from '../parse-arguments.ts'
import { startClock } from '../progress.ts'
import { reportError } from '../report-error.ts'

/**
 * Combines the specification of a command with its code, which is loaded only to do the work: help
 * and usage errors need neither Redis nor a database driver. In every format but text a failure prints
 * a document too.
 */
export function command<const Spec extends CommandSpec>(
  spec: Spec,
  load: () => Promise<Run<Spec>>,
): Command {
  async function work(args: readonly string[], io: Io): Promise<number> {
    const call = parseArguments(spec, args)
    startClock(io)
    const run = await load()
    try {
      return await run(call, io)
    } catch (error) {
      if (error instanceof InvalidInput) throw usageError(error, spec)
      if (!(error instanceof UsageError)) await printFailure(error, call.options, io)
      throw error
    }
  }

  async function printFailure(
    error: unknown,
    { output }: { readonly output?: unknown },
    io: Io,
  ): Promise<void> {
    if (output === 'json') io.out(json({ ok: false, errors: problemsIn(error) }))
    const { isReportFormat, renderReport } = await import('../report/write.ts')
    if (!isReportFormat(output)) return
    const { failureReport } = await import('../report/failure.ts')
    io.out(renderReport(failureReport(spec.name, error), output, io))
  }

  return {
    spec,
    async run(args, io) {
      if (asksForHelp(spec, args)) {
        io.out(commandHelp(spec))
        return 0
      }
      try {
        return await work(args, io)
      } catch (error) {
        if (!(error instanceof UsageError)) return reportError(error, io, spec)
        const hint = `Run "postern ${spec.name} --help" for options and examples.`
        io.err(`postern: ${printable(error.message)}\n${usageLines(spec)}\n${hint}\n`)
        return exitCodes.usage
      }
    },
  }
}

/** Names the field as users write it: `NAME`, or `--since`. */
function usageError({ field, message }: InvalidInput, spec: CommandSpec): UsageError {
  const argument = spec.arguments.find(({ name }) => name.toLowerCase() === field)
  return new UsageError(`${argument?.name ?? `--${field}`}: ${message}`)
}

/** What went wrong, in the form of the problems that `check` prints. */
function problemsIn(error: unknown): readonly { readonly message: string }[] {
  if (error instanceof Invalid) return error.problems
  const message = error instanceof Error ? error.message : String(error)
  return [{ message, ...(error instanceof NotPermitted && { kind: 'not-permitted' }) }]
}
