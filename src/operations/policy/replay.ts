import { sinceMs } from '../duration.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import { reportEngine, slownessOf } from './engine-cost.ts'
import type { policyReplay, Replayed } from './evidence-descriptions.ts'
import { replayLogs, whyNothing } from './replay-logs.ts'
import { isPublished, readVersion } from './versions.ts'

/** What the formats for people and CI systems show besides. */
export interface ReplayExtras {
  /** The policy in words. */
  readonly policy: string
  /** The files of the policy, if a reviewer can open them. */
  readonly files: readonly string[]
  /** Why no decision could be replayed. */
  readonly nothing?: string
}

/** Shows which recorded decisions a policy would change. */
export const run: RunOf<typeof policyReplay, ReplayExtras> = async (input, context) => {
  const settings = policySettings(context.configFile, context)
  const logs = logNames(input.file, settings)
  const since =
    input.since === undefined
      ? undefined
      : new Date(sinceMs(input.since, context.now())).toISOString()
  const { policies = settings.directory } = input
  const { set, files } = await readVersion(policies, settings, context)
  const slowness = slownessOf(reportEngine(set, context))
  const notes = slowness === undefined ? [] : [slowness]
  const { streamStdin: stdin } = context
  const result = await replayLogs(logs, set, { since, io: context, ...(stdin && { stdin }) })

  const failed = isFailed(result, input['fail-on'])
  const { revision } = set
  const isNothing = result.asked === 0
  return {
    document: { policies, failed, notes, ...result },
    outcome: isNothing ? 'unavailable' : failed ? 'no' : 'done',
    shown: {
      policy: revision.startsWith(policies) ? revision : `${policies}, ${revision}`,
      files: isPublished(policies) ? [] : files.map(({ name }) => name),
      ...(isNothing && { nothing: whyNothing(result, since) }),
    },
  }
}

/** The logs that the caller names, else the one that gateways of this configuration write. */
function logNames(named: readonly string[], { config }: PolicySettings): readonly string[] {
  const file = config?.logger.decisions.file
  if (named.length > 0) return named
  if (file !== undefined) return [file]
  throw new InvalidInput(
    undefined,
    'missing argument FILE: name decision logs, or set logger.decisions.file in the configuration',
  )
}

/** Whether calls change in the way that the caller wants to fail on. */
function isFailed(
  { wouldDeny, wouldAllow }: Replayed,
  failOn: 'deny' | 'allow' | 'any' | undefined,
): boolean {
  if (failOn === undefined) return false
  return (failOn !== 'allow' && wouldDeny > 0) || (failOn !== 'deny' && wouldAllow > 0)
}
