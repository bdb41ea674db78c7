import { compile } from '../../policy/engine/compile.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { findLogs } from '../../replay/log-source.ts'
import { replay } from '../../replay/replay.ts'
import type { Surroundings } from '../context.ts'
import { percentOf } from '../progress.ts'
import { dated } from './dated.ts'
import type { Replayed } from './evidence-descriptions.ts'

interface LogParts {
  /** Earlier decisions are left out. ISO 8601. */
  readonly since?: string | undefined
  readonly io: Surroundings
  /** What the name `-` stands for. */
  readonly stdin?: () => AsyncIterable<Uint8Array>
}

/**
 * Asks a policy again what the gateways decided that wrote these logs, and shows the progress. Throws
 * `Invalid` when a log does not exist.
 */
export async function replayLogs(
  names: readonly string[],
  set: PolicySet,
  { since = '', io: { cwd, progress }, stdin = noBytes }: LogParts,
): Promise<Replayed> {
  const logs = await findLogs(names, { cwd, stdin })
  const total = logs.reduce((sum, { bytes = Number.NaN }) => sum + bytes, 0)
  let done = 0
  const words = percentOf('replaying decisions')
  const onRead = (bytes: number) => {
    done += bytes
    progress?.show(() =>
      Number.isNaN(total)
        ? `replaying decisions: ${Math.floor(done / 1e6)} MB`
        : words(done, total),
    )
  }
  const result = await replay(logs, compile(set), { onRead, since })
  progress?.end()
  return dated(result)
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** Why a log says nothing about a policy. */
export function whyNothing(
  { decisions, lines, notAsked, unreadable }: Replayed,
  since?: string | undefined,
): string {
  if (lines === 0 && unreadable.length > 0) return 'no log could be read'
  if (decisions === 0) {
    return `no decisions${since === undefined ? '' : ` since ${since}`} in ${lines.toLocaleString('en-US')} lines: set logger.decisions.enabled at the gateways, and name their decision logs`
  }
  return notAsked.identity + notAsked.route === decisions
    ? 'no policy made any of these decisions, so nothing could be replayed'
    : 'no decision could be replayed: with logger.decisions.path "plain", gateways record the paths that a replay needs'
}
