import { assumedHostNote } from '../../admission/asked-hosts.ts'
import type { Asked } from '../../answers/asked.ts'
import { compileAt } from '../../policy/engine/compile.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { isExpired, parseUntil } from '../../policy/rule/until.ts'
import type { PolicyFile, PolicySet } from '../../policy/set/policy-set.ts'
import { UsageError } from '../command.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { isPublished, readVersion } from '../policy/versions.ts'
import { type PolicySettings, policySettings } from '../settings.ts'
import { checkedHost } from './asked-host.ts'

interface AskedOptions {
  readonly policies?: string | undefined
  readonly revision?: string | undefined
  readonly at?: string | undefined
  readonly host?: string | undefined
  readonly config?: string | undefined
}

/** The policy and the configuration that the user means. */
export interface AskedPolicy extends Asked {
  readonly settings: PolicySettings
  /** A directory, `live` or a revision, for the user. */
  readonly name: string
  readonly files: readonly PolicyFile[]
  /** The policy with the lines that have expired. */
  readonly whole: PolicySet
  /** The time that the answer is about, in milliseconds. */
  readonly at: number
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
  const { admission: configured, note } = settings.admission()
  const { host } = options
  const admission =
    host === undefined ? configured : { ...configured, assumedHost: checkedHost('--host', host) }
  const hostNote = assumedHostNote(admission)
  const name = options.revision ?? options.policies ?? loadedBy(settings)
  const at = timeOf(options.at, io)
  const { files, set } = await readVersion(name, settings, io)
  return {
    settings,
    admission,
    policies: compileAt(set, at),
    whole: set,
    name,
    files,
    at,
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(hostNote === undefined ? [] : [hostNote]),
      ...expiredNote(set, at),
    ],
  }
}

/** The time that `--at` names, else now. Throws `UsageError` when it names none. */
function timeOf(text: string | undefined, io: Io): number {
  const at = text === undefined ? (io.now?.() ?? Date.now()) : parseUntil(text)
  if (typeof at === 'string') throw new UsageError(`--at: ${at}`)
  return at
}

function expiredNote({ rules, inheritances, exclusions }: PolicySet, at: number): string[] {
  const expired = [...rules, ...inheritances, ...exclusions].filter((line) => isExpired(line, at))
  const [first] = expired
  if (first === undefined) return []
  return [
    `${count(expired.length, 'line has', 'lines have')} expired and no longer ${expired.length === 1 ? 'counts' : 'count'}, for example ${placeOf(first.origin)}`,
  ]
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
