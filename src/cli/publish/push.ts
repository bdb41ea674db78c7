import { type Run, UsageError } from '../command.ts'
import { decline } from '../declined.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { reportEngine, slowNote, slownessOf } from '../policy/engine-cost.ts'
import { isCommit } from '../policy/git-directory.ts'
import { formatFindings, reviewDirectory } from '../policy/review.ts'
import { readSurroundings } from '../policy/surroundings.ts'
import { formatNotes, formatReport, reportAsJson, runTests } from '../policy/test.ts'
import { policySettings, withPolicyStore } from '../settings.ts'
import { baseNotWritten, readBase, writeBase } from './base.ts'
import { checkOver } from './over.ts'
import { publishPolicy, reportPublication } from './publish.ts'
import { pushSpec } from './specs.ts'
import { waitingOf } from './waiting.ts'

/** Publishes a policy directory that is valid, tested and confirmed. */
export const policyPush: Run<typeof pushSpec> = async ({ options, arguments: [named] }, io) => {
  const { output, yes } = options
  const message = options.message.trim()
  if (message === '') {
    throw new UsageError(`-m is required: ${pushSpec.options.message.required}`)
  }
  checkOver(options.over)
  const { waitSeconds, allowLost } = waitingOf(options)
  const author = authorOf(options.author, io)
  const settings = policySettings(options.config, io)
  const name = named ?? settings.directory

  if (isCommit(name)) {
    throw new UsageError(`DIR: push publishes a directory: check out ${name.slice(4)} first`)
  }
  const review = await reviewDirectory(name, io, () => readSurroundings(settings, options, io))
  io.err(formatFindings('error', review.errors) + formatFindings('warning', review.warnings))
  const { admission, note } = settings.admission()
  const tests = runTests(review, admission, io)
  if (tests === undefined || review.set === undefined) {
    if (output === 'json') io.out(json({ ok: false, directory: name, errors: review.errors }))
    return exitCodes.invalid
  }
  const { set } = review
  // A policy without rules has nothing to test; --allow-empty guards it.
  const isUntested = tests.outcomes.length === 0 && set.rules.length > 0 && !options['no-tests']
  io.err(formatNotes(tests, note) + (isUntested ? untested(name) : formatReport(name, tests)))
  if (tests.failures.length > 0 || isUntested) {
    if (output === 'json') io.out(json({ ok: false, ...reportAsJson(review, tests) }))
    return exitCodes.testsFailed
  }
  if (set.rules.length === 0 && !options['allow-empty']) {
    return decline(
      'refused: the policy has no rules, so only admin would keep access; if you want that, add --allow-empty',
    )
  }
  const engine = reportEngine(set, io)
  const slowness = slownessOf(engine)
  if (slowness !== undefined && !options['allow-slow']) {
    return decline(`refused: ${slowness}; change the model, or add --allow-slow`)
  }
  io.err(slowNote(engine))

  const { files } = review.directory
  const place = { directory: name, cwd: io.cwd, redis: settings.redis() }
  const over = { option: options.over, directory: { name, base: await readBase(place) } }
  const publication = {
    ...{ files, set, engine, author, message, yes, over, waitSeconds, admission },
    kind: 'push',
  } as const
  return withPolicyStore(settings, async (store) => {
    const report = await publishPolicy(publication, { store, io })
    if (report === undefined) return decline('not published')
    const isNoted = await writeBase(place, set.revision)
    if (!isNoted && options.over === undefined) io.err(baseNotWritten(name))
    return reportPublication(report, { output, allowLost }, io)
  })
}

function untested(name: string): string {
  return printable(
    `postern: refused: ${name} has no tests: add them to ${name}/tests/*_test.yaml, or publish without tests with --no-tests`,
  ).concat('\n')
}

/** The author, which the history keeps. */
export function authorOf(named: string | undefined, io: Io): string {
  const author = (named ?? io.userName ?? '').trim()
  return author === '' ? decline('the author is empty: give one with --author') : author
}
