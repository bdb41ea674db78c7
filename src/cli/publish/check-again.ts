import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readExpectations } from '../../operations/policy/review.ts'
import { runTests, tested, testNotes } from '../../operations/policy/run-tests.ts'
import type { PolicySettings } from '../../operations/policy-settings.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { showReplay } from '../evidence/replay/replay.ts'
import { exitCodes } from '../exit-codes.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { formatReport } from '../policy/test-view.ts'
import { noteLines } from '../view.ts'

/** The machine of an approver. */
interface CheckParts {
  readonly settings: PolicySettings
  readonly io: Io
}

interface CheckOptions {
  readonly replay: string | undefined
  readonly 'allow-failed-tests': boolean
}

/**
 * Runs tests and replay on the machine of an approver: what the proposer recorded of them, no signature
 * covers. Prints the results, also that there is nothing to run. Returns the exit code.
 */
export async function checkAgain(
  set: PolicySet,
  options: CheckOptions,
  { settings, io }: CheckParts,
): Promise<number> {
  const { directory } = settings
  const { admission, note } = settings.admission()
  const expectations = await readExpectations(directory, io)
  let failed = 0
  if (expectations.length === 0)
    io.err(printable(`tests not run: ${directory} has none`).concat('\n'))
  else {
    const report = runTests({ set, expectations }, admission, io)
    failed = report?.failures.length ?? 0
    if (report !== undefined) {
      io.err(noteLines(testNotes(report, note)) + formatReport(directory, tested(report)))
    }
  }
  const log = options.replay ?? recordedDecisions(settings, io)
  if (log === undefined) io.err('replay not run: name a decision log with --replay FILE\n')
  else await showReplay(log, set, io)
  if (failed === 0 || options['allow-failed-tests']) return exitCodes.done
  io.err(
    printable(
      `postern: refused: tests of ${directory} fail with this policy: get the tests that go with it, or sign with --allow-failed-tests`,
    ).concat('\n'),
  )
  return exitCodes.testsFailed
}

/** The log that a gateway on this machine writes. */
function recordedDecisions({ config }: PolicySettings, { cwd }: Io): string | undefined {
  const file = config?.logger.decisions.file
  return file !== undefined && existsSync(resolve(cwd, file)) ? file : undefined
}
