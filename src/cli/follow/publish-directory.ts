import { decline } from '../../operations/declined.ts'
import { type PolicySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { baseNotWritten, readOver, writeBase } from '../../operations/publish/base.ts'
import { commitPublication, reviewPublication } from '../../operations/publish/publication.ts'
import type { Signing } from '../../operations/publish/signing.ts'
import type { Followed } from '../../stores/policies/follow/follower.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { readCandidate } from '../publish/candidate.ts'
import { comparing } from '../publish/review-parts.ts'

interface Change {
  /** The directory. */
  readonly name: string
  readonly followed: Followed
  /** The value of `--over`. */
  readonly over: string | undefined
  readonly author: string
  readonly signing: Signing
}

/** What a person would accept after a look: tests are not required here, and those that exist ran. */
const accepted = {
  config: undefined,
  output: 'text',
  accounts: false,
  'allow-slow': false,
  'allow-empty': false,
  'no-tests': true,
} as const

/** Publishes a directory to Redis as "policy push --yes" does. Throws when that is refused. */
export async function publishDirectory(
  { name, followed, over: option, author, signing }: Change,
  { settings, io: outer }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<void> {
  const io = { ...outer, out: () => {} }
  const candidate = await readCandidate(name, accepted, { settings, io })
  if (typeof candidate === 'number') return decline(`${name} is not valid: see the lines above`)
  const { place, set, admission } = candidate
  const over = await readOver(option, name, place)
  const { added, removed } = followed
  // After a failure the directory has the change already.
  const message =
    added + removed === 0
      ? 'go-admin: as in its Casbin table'
      : `go-admin: ${count(added, 'line')} added, ${removed} removed`
  const publication = {
    ...({ ...candidate, kind: 'push', author, message } as const),
    ...{ over, signing, isAsked: false, replay: undefined },
  }
  await withPolicyStore(settings, async (store) => {
    const parts = { store, ...comparing(admission, io), actor: operator(io) }
    await commitPublication(await reviewPublication(publication, parts), parts)
    const isNoted = place !== undefined && (await writeBase(place, set.revision))
    if (!isNoted) io.err(`${baseNotWritten(name)}\n`)
  })
}
