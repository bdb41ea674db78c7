import { reportEngine, slownessOf } from '../../../operations/policy/engine-cost.ts'
import { isPublished, readVersion } from '../../../operations/policy/versions.ts'
import { type PolicySettings, policySettings } from '../../../operations/policy-settings.ts'
import { percentOf } from '../../../operations/progress.ts'
import { sinceMs } from '../../../operations/since.ts'
import { compile } from '../../../policy/engine/compile.ts'
import type { PolicySet } from '../../../policy/set/policy-set.ts'
import { findLogs } from '../../../replay/log-source.ts'
import { type Replay, replay } from '../../../replay/replay.ts'
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
  const result = await replayLogs(names, set, { since, io })

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

/**
 * Asks a policy again what the gateways decided that wrote these logs, and shows the progress on a
 * terminal. Throws `Invalid` when a log does not exist.
 */
async function replayLogs(
  names: readonly string[],
  set: PolicySet,
  { since = '', io }: { readonly since?: string | undefined; readonly io: Io },
): Promise<Replay> {
  const logs = await findLogs(names, { cwd: io.cwd, stdin: () => io.streamStdin?.() ?? noBytes() })
  const total = logs.reduce((sum, { bytes = Number.NaN }) => sum + bytes, 0)
  let done = 0
  const words = percentOf('replaying decisions')
  const onRead = (bytes: number) => {
    done += bytes
    io.progress?.show(() =>
      Number.isNaN(total)
        ? `replaying decisions: ${Math.floor(done / 1e6)} MB`
        : words(done, total),
    )
  }
  const result = await replay(logs, compile(set), { onRead, since })
  io.progress?.end()
  return result
}

/**
 * Replays a log for a person who is about to publish the policy, and prints the result. Throws
 * `UsageError` for standard input, which has the answer of that person.
 */
export async function showReplay(file: string, set: PolicySet, io: Io): Promise<Replay> {
  if (file === '-') throw new UsageError('--replay: name a file: the answer comes from stdin')
  const result = await replayLogs([file], set, { io })
  io.err(formatReplay(result, set.revision))
  if (result.asked === 0) io.err(`note: ${printable(whyNothing(result))}\n`)
  return result
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

function whyNothing(
  { decisions, lines, notAsked, unreadable }: Replay,
  since?: string | undefined,
): string {
  if (lines === 0 && unreadable.length > 0) return 'no log could be read'
  if (decisions === 0) {
    return `no decisions${since === undefined ? '' : ` since ${since}`} in ${lines.toLocaleString('en-US')} lines: set logger.decisions.enabled at the gateways, and name their decision logs`
  }
  return notAsked.identity + notAsked.route === decisions
    ? 'no policy made any of these decisions, so nothing could be asked'
    : 'no decision could be asked: with logger.decisions.path "plain", gateways record the paths that a replay needs'
}
