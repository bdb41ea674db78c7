import type { Asked } from '../../answers/asked.ts'
import { compile } from '../../policy/engine/compile.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { isPublished, readVersion } from '../policy/versions.ts'
import { type PolicySettings, policySettings } from '../settings.ts'

interface AskedOptions {
  readonly policies?: string | undefined
  readonly revision?: string | undefined
  readonly config?: string | undefined
}

/** The policy and the configuration that the user means. */
export interface AskedPolicy extends Asked {
  readonly settings: PolicySettings
  /** A directory, `live` or a revision, for the user. */
  readonly name: string
  /** What the answer does not consider. */
  readonly notes: readonly string[]
}

/**
 * Reads the policy that the user means: the directory or revision they name, else what the gateway of
 * the configuration loads, which is the live revision if `policy.source` is `redis`.
 */
export async function askedPolicy(options: AskedOptions, io: Io): Promise<AskedPolicy> {
  checkAsked(options)
  const settings = policySettings(options.config, io)
  const { admission, note } = settings.admission()
  const name = options.revision ?? options.policies ?? loadedBy(settings)
  const { set } = await readVersion(name, settings, io)
  return {
    settings,
    admission,
    policies: compile(set),
    name,
    notes: note === undefined ? [] : [note],
  }
}

/** What the gateway of this configuration loads. */
function loadedBy(settings: PolicySettings): string {
  return settings.config?.policy.source === 'redis' ? 'live' : settings.directory
}

/** Throws `UsageError` when the options name no policy, or two. */
export function checkAsked({ policies, revision }: AskedOptions): void {
  if (policies !== undefined && revision !== undefined) {
    throw new UsageError('--policies and --revision are both given: give one of them')
  }
  if (policies !== undefined && isPublished(policies)) {
    throw new UsageError(
      `--policies names a directory: write --revision ${policies}, or --policies ./${policies}`,
    )
  }
  if (revision !== undefined && !isPublished(revision)) {
    throw new UsageError(
      `--revision: ${JSON.stringify(revision)} is not a revision: write live, or at least 12 digits of one, such as r-3f2a9c81d604`,
    )
  }
}

/** The policy of an answer in words: `policies, r-…`, or `r-…` alone. */
export function policyName({ name, policies }: AskedPolicy): string {
  return policies.revision.startsWith(name) ? policies.revision : `${name}, ${policies.revision}`
}
