import { resolve } from 'node:path'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { isRejection, verifySigned } from '../../signing/trust.ts'
import { commitsOf, isShallow, prefixOf, rootOf } from '../../stores/git/git-tree.ts'
import { HISTORY } from '../../stores/policies/document/read-moves.ts'
import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import type { DocumentOf } from '../operation.ts'
import { withPolicyStore } from '../policy-settings.ts'
import type { policyBlame } from './descriptions.ts'
import { revisionOf } from './directory.ts'
import { isCommit, placeInCommit, readCommit } from './git-directory.ts'
import { run as readHistory } from './history.ts'
import type { PolicyQuery } from './policy-query.ts'
import { isPublished } from './versions.ts'

/** A policy as someone published or committed it. `at` is absent for files that are not committed. */
interface PastVersion {
  readonly files: readonly PolicyFile[]
  readonly at?: string
  readonly about: Pick<Change, 'signers' | 'author' | 'message' | 'commit'>
}

type Change = DocumentOf<typeof policyBlame>['changes'][number]

/** Older versions are missing. */
export class Unreadable extends Error {}

/**
 * The versions of a policy, the newest first: moves of the head in the history, or commits. Throws
 * `Unreadable` where older ones are missing.
 */
export function pastVersions(query: PolicyQuery, context: Context): AsyncGenerator<PastVersion> {
  return isPublished(query.name) ? published(query, context) : committed(query, context)
}

const mostVersions = 2000

async function* published(query: PolicyQuery, context: Context): AsyncGenerator<PastVersion> {
  const { settings, whole, files } = query
  const trust = settings.trust()
  const { document: moves, notes = [] } = await readHistory({ limit: mostVersions }, context)
  // Gateways keep their policy if they do not trust the signatures of a move.
  const trusted = moves.filter(
    ({ signed }) => trust === undefined || !isRejection(verifySigned(signed, 'live', trust)),
  )
  const start = trusted.findIndex(({ revision }) => revision === whole.revision)
  if (start === -1) decline(`${whole.revision} was never live: the history does not have it`)
  let last = { files, revision: whole.revision }
  for (const { revision, at, author, message, signers } of trusted.slice(start)) {
    if (revision !== last.revision) {
      const stored = await withPolicyStore(settings, (store) => store.read(revision))
      if (stored === undefined) throw new Unreadable(`${revision} of ${at} is no longer stored`)
      // Anyone who can write to Redis can store other files under a revision.
      if (revisionOf(stored.files) !== revision) throw new Unreadable(`${revision} was altered`)
      last = { files: stored.files, revision }
    }
    yield { files: last.files, at, about: { author, message, signers } }
  }
  const cut = moves.length < HISTORY ? notes[0] : 'older entries of the history may be missing'
  if (cut !== undefined) throw new Unreadable(cut)
}

async function* committed(query: PolicyQuery, context: Context): AsyncGenerator<PastVersion> {
  const { name, files, settings } = query
  const isWorkTree = !isCommit(name)
  const place = isWorkTree ? { cwd: resolve(context.cwd, name), env: context.env } : context
  if (isWorkTree) {
    yield { files, about: { signers: [] } }
    if ((await rootOf(place)) === undefined)
      throw new Unreadable(`${name} is not in a Git repository`)
  }
  const { commit, directory } = isWorkTree
    ? { commit: 'HEAD', directory: (await prefixOf(place)).replace(/\/$/, '') }
    : await placeInCommit(name, () => settings.directory, place)
  const commits = await commitsOf(commit, directory, mostVersions, place)
  for (const { id, at, author, message } of commits) {
    const { files } = await readCommit(`git:${id}:${directory}`, () => directory, place)
    yield { files, at, about: { author, message, signers: [], commit: id } }
  }
  if (commits.length === mostVersions || (await isShallow(place)))
    throw new Unreadable('older commits are not read: the clone lacks them, or they are too many')
}
