import { Fault, formatProblem, Invalid } from '../../kernel/errors.ts'
import { Declined, NotPermitted, Refused } from '../../operations/declined.ts'
import { InvalidInput, UnusableValue } from '../../operations/invalid-input.ts'
import { type CommandSpec, type Printed, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import { usageLines } from '../help.ts'
import type { Workplace } from '../report/location.ts'

/** One line for what the user can fix, and a stack only for a bug of ours. */
export function failureOf(error: unknown, spec?: CommandSpec): Printed {
  const failed = (code: number, message: string) => {
    return { code, out: '', err: `postern: ${printable(message)}\n` }
  }
  if (error instanceof Invalid) {
    const lines = error.problems.map((problem) => `${printable(formatProblem(problem))}\n`)
    return { code: exitCodes.invalid, out: '', err: lines.join('') }
  }
  if (error instanceof Declined) {
    return { ...failed(exitCodes.no, error.message), isForbidden: error instanceof NotPermitted }
  }
  if (error instanceof Fault) {
    const why = error.cause instanceof Error ? error.cause.message : ''
    // Supervisors know the 1 of `serve`, and a command without a store has no question to ask it.
    const asksStores = spec?.exitCodes[exitCodes.unavailable] !== undefined
    const reason = `${error.message}${error.message.includes(why) ? '' : `: ${why}`}`
    return failed(asksStores ? exitCodes.unavailable : exitCodes.no, reason)
  }
  if (isUsage(error)) {
    const { code, out, err } = failed(exitCodes.usage, usageMessage(error, spec))
    if (spec === undefined || error instanceof UnusableValue) return { code, out, err }
    const hint = `Run "postern ${spec.name} --help" for options and examples.`
    return { code, out, err: `${err}${usageLines(spec)}\n${hint}\n` }
  }
  const stack = error instanceof Error ? error.stack : String(error)
  return { code: exitCodes.bug, out: '', err: `${stack}\n` }
}

/** The same of a command, which prints a document too in every format but text. */
export async function commandFailure(
  error: unknown,
  spec: CommandSpec,
  { output, place }: { readonly output: unknown; readonly place: Workplace },
): Promise<Printed> {
  if (error instanceof Refused) {
    const { outcome, document } = error
    const isShown = output === 'json' && document !== undefined
    return { code: exitCodes[outcome], out: isShown ? json(document) : '', err: '' }
  }
  const failure = failureOf(error, spec)
  if (isUsage(error)) return failure
  if (output === 'json') return { ...failure, out: json({ ok: false, errors: problemsIn(error) }) }
  const { isReportFormat, renderReport } = await import('../report/write.ts')
  if (!isReportFormat(output)) return failure
  const { failureReport } = await import('../report/failure.ts')
  return { ...failure, out: renderReport(failureReport(spec.name, error), output, place) }
}

function isUsage(error: unknown): error is UsageError | InvalidInput {
  return error instanceof UsageError || error instanceof InvalidInput
}

/** Names the field as users write it: `NAME`, or `--since`. */
function usageMessage(error: UsageError | InvalidInput, spec: CommandSpec | undefined): string {
  if (error instanceof UsageError || error.field === undefined) return error.message
  const argument = spec?.arguments.find(({ name }) => name.toLowerCase() === error.field)
  return `${argument?.name ?? `--${error.field}`}: ${error.message}`
}

/** What went wrong, in the form of the problems that `check` prints. */
function problemsIn(error: unknown): readonly { readonly message: string }[] {
  if (error instanceof Invalid) return error.problems
  const message = error instanceof Error ? error.message : String(error)
  return [{ message, ...(error instanceof NotPermitted && { kind: 'not-permitted' }) }]
}
