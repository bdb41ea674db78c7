import { printable } from '../../kernel/printable.ts'
import { parsePolicyPair } from '../../policy/set/policy-pair.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { isRejection, verifySigned } from '../../signing/trust.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import type { PolicyDocument, PolicyStore } from '../../stores/policies/policy-store.ts'
import { type LiveState, readLiveState } from '../../stores/policies/proposals/live-state.ts'
import type { Surroundings } from '../context.ts'
import { type PolicySettings, unavailable, withPolicyStore } from '../policy-settings.ts'
import { readPolicyDirectory } from './directory.ts'
import { isCommit, readCommit } from './git-directory.ts'

/** The files of a policy that the user named, from a directory, a commit or Redis. */
interface VersionFiles {
  /** As it was named: a directory, `git:REF`, a revision, or `live`. */
  readonly name: string
  readonly files: readonly PolicyFile[]
  /** The revision under which Redis has it. */
  readonly revision?: string
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
  io: Surroundings,
): Promise<PolicyVersion> {
  return parsed(await readVersionFiles(name, settings, io), io)
}

/** Two versions. Parsing them together takes little more than parsing one. */
export async function readVersions(
  { from, to }: { readonly from: string; readonly to: string },
  settings: PolicySettings,
  io: Surroundings,
): Promise<{ readonly from: PolicyVersion; readonly to: PolicyVersion }> {
  const before = await readVersionFiles(from, settings, io)
  const after = await readVersionFiles(to, settings, io)
  const sets = parsePolicyPair(before.files, after.files)
  return { from: verified(before, sets.from), to: verified(after, sets.to) }
}

async function readVersionFiles(
  name: string,
  settings: PolicySettings,
  io: Surroundings,
): Promise<VersionFiles> {
  if (isPublished(name)) {
    return withPolicyStore(settings, (store) =>
      readPublishedFiles(name, { store, settings, io }, readProposed),
    )
  }
  const { files } = isCommit(name)
    ? await readCommit(name, () => settings.directory, io)
    : await readPolicyDirectory(name, io)
  return { name, files }
}

function parsed(version: VersionFiles, { shared }: Surroundings): PolicyVersion {
  const { files } = version
  const parse = () => parsePolicySet(files)
  return verified(version, shared?.policies.parsed(files, parse) ?? parse())
}

/** A client with write access to Redis can store other files under a revision, with a valid checksum. */
function verified(version: VersionFiles, set: PolicySet): PolicyVersion {
  const { revision = set.revision } = version
  if (set.revision === revision) return { ...version, set }
  return unavailable(
    `the document of ${revision} was altered in Redis: its content is ${set.revision}`,
  )
}

/** Whether the name is `live` or a revision, and not a directory. */
export function isPublished(name: string): boolean {
  return name === 'live' || isRevision(name)
}

/** Reads `live` or a published revision. Throws a Fault when it does not exist. */
export async function readPublished(name: string, source: Source): Promise<PolicyVersion> {
  return parsed(await readPublishedFiles(name, source), source.io)
}

/** Where to read, and the configuration that says whose signatures make a policy live. */
interface Source {
  readonly store: PolicyStore
  readonly settings: Pick<PolicySettings, 'trust'>
  readonly io: Surroundings
}

async function readPublishedFiles(
  name: string,
  source: Source,
  readOther: ReadOther = async () => undefined,
): Promise<VersionFiles> {
  const { store } = source
  const revision = name === 'live' ? await liveRevision(source) : await fullRevision(name, source)
  if (revision === undefined) return unavailable('nothing is published yet')
  const document = (await store.read(revision)) ?? (await readOther(revision, store))
  if (document === undefined)
    return unavailable(
      `revision ${revision} does not exist: "postern policy history" shows all revisions`,
    )
  return { name, files: document.files, revision: document.revision }
}

/** What gateways use: not the head, if `policy.trust` rejects it. */
async function liveRevision({ store, settings, io }: Source): Promise<string | undefined> {
  const live = await readLiveState(store, { trust: settings.trust(), now: Date.now() })
  const note = untrustedHead(live)
  if (note !== '') io.err(`${printable(note)}\n`)
  return live.revision
}

/** A warning that gateways do not use the head in Redis; empty when they do. */
export function untrustedHead({ problem, isAfterKnown, revision }: LiveState): string {
  if (problem === undefined) return ''
  const kept = isAfterKnown ? ` and keep ${revision}` : ''
  return `warning: the head in Redis is not trusted: ${problem}; gateways with policy.trust ignore it${kept}`
}

/** Reviewers compare a proposal and ask it like a published policy. */
const readProposed: ReadOther = async (name, { proposals }) => {
  const [only, ...others] = await proposals.matching(name)
  return only && others.length === 0 ? proposals.document(only.revision) : undefined
}

/** Where else a revision may be found: only what was published can be pulled or rolled back to. */
type ReadOther = (revision: string, store: PolicyStore) => Promise<PolicyDocument | undefined>

/**
 * The one revision of the history that starts with this; else the name itself. With `policy.trust`,
 * moves without signatures do not count: another policy whose revision begins with the same digits
 * can be found and planted.
 */
async function fullRevision(name: string, { store, settings }: Source): Promise<string> {
  const trust = settings.trust()
  const moves = (await store.history()).filter(({ revision }) => revision.startsWith(name))
  const counted =
    trust === undefined
      ? moves
      : moves.filter(({ signed }) => !isRejection(verifySigned(signed, 'live', trust)))
  const found = new Set(counted.map(({ revision }) => revision))
  if (found.size > 1 && !found.has(name)) {
    return unavailable(
      `${name} is ambiguous: ${found.size} revisions start with it; give more digits`,
    )
  }
  return found.size === 1 ? ([...found][0] ?? name) : name
}
