import type { PolicyFile, PolicySet } from '../policy/policy-set.ts'
import { parsePolicySet } from '../policy/policy-set.ts'
import type { PolicyStore } from '../stores/policies.ts'
import type { Io } from './io.ts'
import { readPolicyDirectory } from './policy-directory.ts'
import { type PolicySettings, refuse, withPolicyStore } from './policy-settings.ts'

/** A policy that somebody named, wherever it was kept. */
export interface PolicyVersion {
  /** As it was named: a directory, a revision, or `live`. */
  readonly name: string
  readonly set: PolicySet
  readonly files: readonly PolicyFile[]
}

/** Whether a name is that of a revision. A directory of such a name is `./r-…`. */
export function isRevisionName(name: string): boolean {
  return /^r-[0-9a-f]{12,64}$/.test(name)
}

/** Reads `live` or a revision from Redis, and anything else from a directory. */
export async function readVersion(
  name: string,
  settings: PolicySettings,
  io: Io,
): Promise<PolicyVersion> {
  if (name !== 'live' && !isRevisionName(name)) {
    const { files } = await readPolicyDirectory(name, io.cwd)
    return { name, files, set: parsePolicySet(files) }
  }
  return withPolicyStore(settings, (store) => readPublished(name, store))
}

/** The same, of what is published. Says no when there is none. */
export async function readPublished(name: string, store: PolicyStore): Promise<PolicyVersion> {
  const revision = name === 'live' ? (await store.head())?.revision : name
  if (revision === undefined) return refuse('nothing is published yet')
  const document = await store.read(revision)
  if (document === undefined) return refuse(`no such revision: ${revision}`)
  return { name, files: document.files, set: parsePolicySet(document.files) }
}
