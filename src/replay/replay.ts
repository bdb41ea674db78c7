import type { CompiledPolicies } from '../policy/engine/decision.ts'
import type { LogSource } from './log-source.ts'
import { createLineReader, readLog } from './read-log.ts'
import { createTally } from './tally.ts'

/** What a policy answers to the decisions in logs, and what could not be read of them. */
interface LogProblem {
  readonly file: string
  readonly line: number
  readonly message: string
}

interface Reading {
  readonly onRead?: (bytes: number) => void
  /** Earlier decisions are left out. ISO 8601, in UTC, to the millisecond. */
  readonly since?: string
}

/**
 * Asks a policy again what gateways decided. Reads log after log, in constant memory. A damaged line or
 * file is counted, not an error: a log may be truncated because its gateway crashed.
 */
export async function replay(
  logs: readonly LogSource[],
  policies: CompiledPolicies,
  { onRead = () => {}, since = '' }: Reading = {},
) {
  const tally = createTally(policies)
  const unreadable: LogProblem[] = []
  let lines = 0
  let otherLines = 0
  let damagedLines = 0
  let firstDamaged: LogProblem | undefined

  for (const log of logs) {
    const file = log.name
    const reader = createLineReader({
      record(found) {
        // A decision without a time may be a recent one.
        if (found.at === undefined || found.at >= since) tally.take(found)
      },
      noRecord(found, line) {
        if (found === 'other') {
          otherLines++
          return
        }
        damagedLines++
        firstDamaged ??= { file, line, message: found.damage }
      },
    })
    const problem = await readLog(log, reader.push, onRead)
    // The last line of a truncated log is not complete.
    if (problem === undefined) reader.end()
    else unreadable.push({ file, line: reader.lines(), message: problem })
    lines += reader.lines()
  }
  return {
    revision: policies.revision,
    lines,
    /** Log lines that are not decisions. */
    otherLines,
    damaged: { lines: damagedLines, first: firstDamaged },
    /** Logs that could be read up to this line only. */
    unreadable,
    ...tally.result(),
  }
}
