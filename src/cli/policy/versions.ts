import { parsePolicyPair } from '../../policy/set/policy-pair.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { PolicyDocument, PolicyStore } from '../../stores/policies/policy-store.ts'
import type { Io } from '../io.ts'
import { type PolicySettings, unavailable, withPolicyStore } from '../settings.ts'
import { readPolicyDirectory } from './directory.ts'
import { isCommit, readCommit } from './git-directory.ts'

/** The files of a policy that the user named, from a directory, a commit or Redis. */
interface VersionFiles {
  /** As it was named: a directory, `git:REF`, a revision, or `live`. */
  readonly name: string
  readonly files: readonly PolicyFile[]
}

/** Such a policy, parsed. */
interface PolicyVersion extends VersionFiles {
  readonly set: PolicySet
}

/**
 * Reads `live` or a revision from Redis, `git:REF` from a commit, and anything else from a directory:
 * `./live` is one.
 */
export async function readVersion(
  name: string,
  settings: PolicySettings,
  io: Io,
): Promise<PolicyVersion> {
  return parsed(await readVersionFiles(name, settings, io))
}

/** Two versions. Parsing them together takes little more than parsing one. */
export async function readVersions(
  { from, to }: { readonly from: string; readonly to: string },
  settings: PolicySettings,
  io: Io,
): Promise<{ readonly from: PolicyVersion; readonly to: PolicyVersion }> {
  const before = await readVersionFiles(from, settings, io)
  const after = await readVersionFiles(to, settings, io)
  const sets = parsePolicyPair(before.files, after.files)
  return { from: { ...before, set: sets.from }, to: { ...after, set: sets.to } }
}

async function readVersionFiles(
  name: string,
  settings: PolicySettings,
  io: Io,
): Promise<VersionFiles> {
  if (isPublished(name)) {
    return withPolicyStore(settings, (store) => readPublishedFiles(name, store, readProposed))
  }
  const { files } = isCommit(name)
    ? await readCommit(name, () => settings.directory, io)
    : await readPolicyDirectory(name, io.cwd)
  return { name, files }
}

function parsed(version: VersionFiles): PolicyVersion {
  return { ...version, set: parsePolicySet(version.files) }
}

/** Whether the name is `live` or a revision, and not a directory. */
export function isPublished(name: string): boolean {
  return name === 'live' || isRevision(name)
}

/** Reads `live` or a published revision. Throws a Fault when it does not exist. */
export async function readPublished(name: string, store: PolicyStore): Promise<PolicyVersion> {
  return parsed(await readPublishedFiles(name, store))
}

async function readPublishedFiles(
  name: string,
  store: PolicyStore,
  readOther: ReadOther = async () => undefined,
): Promise<VersionFiles> {
  const revision =
    name === 'live' ? (await store.head())?.revision : await fullRevision(name, store)
  if (revision === undefined) return unavailable('nothing is published yet')
  const document = (await store.read(revision)) ?? (await readOther(revision, store))
  if (document === undefined)
    return unavailable(
      `revision ${revision} does not exist: "postern policy history" shows all revisions`,
    )
  return { name, files: document.files }
}

/** Reviewers compare a proposal and ask it like a published policy. */
const readProposed: ReadOther = async (name, { proposals }) => {
  const [only, ...others] = await proposals.matching(name)
  return only && others.length === 0 ? proposals.document(only.revision) : undefined
}

/** Where else a revision may be found: only what was published can be pulled or rolled back to. */
type ReadOther = (revision: string, store: PolicyStore) => Promise<PolicyDocument | undefined>

/** The one revision of the history that starts with this; else the name itself. */
async function fullRevision(name: string, store: PolicyStore): Promise<string> {
  const moves = await store.history()
  const found = new Set(moves.map(({ revision }) => revision).filter((it) => it.startsWith(name)))
  if (found.size > 1 && !found.has(name)) {
    return unavailable(
      `${name} is ambiguous: ${found.size} revisions start with it; give more digits`,
    )
  }
  return found.size === 1 ? ([...found][0] ?? name) : name
}
