import { formatProblem } from '../../kernel/errors.ts'
import { documentOf, endingOf, type Failure, failureOf } from '../../operations/failure.ts'
import { type CommandSpec, type Printout, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import { usageLines } from '../help.ts'
import type { Workplace } from '../report/location.ts'

/** What an error prints where no format was asked for. */
export function printedFailure(error: unknown, spec?: CommandSpec): Printout {
  const failure = readFailure(error)
  return { code: codeOf(failure, spec), out: '', err: shown(failure, spec) }
}

/** The failure of a command, which prints a document too in every format but text. */
export async function commandFailure(
  error: unknown,
  spec: CommandSpec,
  { output, place }: { readonly output: unknown; readonly place: Workplace },
): Promise<Printout> {
  const failure = readFailure(error)
  const code = codeOf(failure, spec)
  const err = shown(failure, spec)
  const printed = (out: string) => ({ code, out, err })
  if (code === exitCodes.usage) return printed('')
  if (output === 'json') {
    const document = documentOf(failure)
    return printed(document === undefined ? '' : json(document))
  }
  if (failure.kind === 'refused') return printed('')
  const { isReportFormat, renderReport } = await import('../report/write.ts')
  if (!isReportFormat(output)) return printed('')
  const { failureReport } = await import('../report/failure.ts')
  return printed(renderReport(failureReport(spec.name, error), output, place))
}

/** A command line that cannot be understood is bad input, which says so in words of its own. */
function readFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { kind: 'invalid-input', message: error.message }
  return failureOf(error)
}

function codeOf(failure: Failure, spec: CommandSpec | undefined): number {
  // Supervisors know the 1 of `serve`, and a command without a store has no question to ask it.
  const asksStores = spec?.exitCodes[exitCodes.unavailable] !== undefined
  return failure.kind === 'fault' && !asksStores ? exitCodes.no : exitCodes[endingOf(failure)]
}

/** One line for what the user can fix, and a stack only for a bug of ours. */
function shown(failure: Failure, spec: CommandSpec | undefined): string {
  switch (failure.kind) {
    case 'refused':
      return ''
    case 'bug':
      return `${failure.details}\n`
    case 'invalid':
      return failure.problems.map((each) => `${printable(formatProblem(each))}\n`).join('')
    case 'invalid-input': {
      const line = `postern: ${printable(`${fieldIn(failure, spec)}${failure.message}`)}\n`
      if (spec === undefined) return line
      const hint = `Run "postern ${spec.name} --help" for options and examples.`
      return `${line}${usageLines(spec)}\n${hint}\n`
    }
    default:
      return `postern: ${printable(failure.message)}\n`
  }
}

/** Names the field as users write it: `NAME: `, or `--since: `. */
function fieldIn({ field }: { readonly field?: string }, spec: CommandSpec | undefined): string {
  if (field === undefined) return ''
  const argument = spec?.arguments.find(({ name }) => name.toLowerCase() === field)
  return `${argument?.name ?? `--${field}`}: `
}
