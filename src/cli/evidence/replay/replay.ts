import { reportEngine, slownessOf } from '../../../operations/policy/engine-cost.ts'
import { replayLogs, whyNothing } from '../../../operations/policy/replay-logs.ts'
import { isPublished, readVersion } from '../../../operations/policy/versions.ts'
import { type PolicySettings, policySettings } from '../../../operations/policy-settings.ts'
import { sinceMs } from '../../../operations/since.ts'
import { type Run, UsageError } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { jsonPieces, printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import { renderReport } from '../../report/write.ts'
import { formatReplay } from './replay-in-words.ts'
import { isFailed, replayReport } from './replay-report.ts'
import type { replaySpec } from './specs.ts'

/** Shows which recorded decisions a policy would change. */
export const policyReplay: Run<typeof replaySpec> = async (call, io) => {
  const { output, 'fail-on': failOn, policies, config } = call.options
  const settings = policySettings(config, io)
  const names = logNames(call.arguments, settings)
  const since = sinceOf(call.options.since, io)
  const name = policies ?? settings.directory
  const { set, files } = await readVersion(name, settings, io)
  const slowness = slownessOf(reportEngine(set, io))
  const notes = slowness === undefined ? [] : [slowness]
  // Before the replay, which then takes long.
  if (output !== 'json') for (const note of notes) io.err(`note: ${printable(note)}\n`)
  const result = await replayLogs(names, set, {
    since,
    io,
    ...(io.streamStdin && { stdin: io.streamStdin }),
  })

  const failed = isFailed(result, failOn)
  const policy = set.revision.startsWith(name) ? set.revision : `${name}, ${set.revision}`
  if (output === 'json') {
    const document = { policies: name, failed, notes, ...result }
    for (const piece of jsonPieces(document)) io.out(piece)
  } else if (output === 'text') io.out(formatReplay(result, policy))
  else {
    const reviewed = isPublished(name) ? [] : files.map((file) => file.name)
    const report = replayReport(result, { policy, failOn, files: reviewed, notes })
    io.out(renderReport(report, output, io))
  }
  if (result.asked === 0) {
    io.err(`postern: ${printable(whyNothing(result, since))}\n`)
    return exitCodes.unavailable
  }
  return failed ? exitCodes.no : exitCodes.done
}

/** The logs that the user names, else the one that gateways of this configuration write. */
function logNames(named: readonly string[], { config }: PolicySettings): readonly string[] {
  const file = config?.logger.decisions.file
  if (named.length > 0) return named
  if (file !== undefined) return [file]
  throw new UsageError(
    'missing argument FILE: name decision logs, or set logger.decisions.file in the configuration',
  )
}

function sinceOf(text: string | undefined, io: Io): string | undefined {
  if (text === undefined) return undefined
  return new Date(sinceMs(text, io.now?.() ?? Date.now())).toISOString()
}
