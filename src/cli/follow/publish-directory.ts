import { decline } from '../../operations/declined.ts'
import { type PolicySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { type Followed, followAuthor } from '../../stores/policies/follow/follower.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { baseNotWritten, readBase, readProposed, writeBase } from '../publish/base.ts'
import { readCandidate } from '../publish/candidate.ts'
import { publishPolicy } from '../publish/publish.ts'
import type { Signing } from '../publish/signing.ts'

interface Change {
  /** The directory. */
  readonly name: string
  readonly followed: Followed
  /** The value of `--over`. */
  readonly over: string | undefined
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
  { name, followed, over: option, signing }: Change,
  { settings, io: outer }: { readonly settings: PolicySettings; readonly io: Io },
): Promise<void> {
  const io = { ...outer, out: () => {} }
  const candidate = await readCandidate(name, accepted, { settings, io })
  if (typeof candidate === 'number') return decline(`${name} is not valid: see the lines above`)
  const place = { directory: name, cwd: io.cwd, redis: settings.redis() }
  const bases = { base: await readBase(place), proposed: await readProposed(place) }
  const { added, removed } = followed
  await withPolicyStore(settings, async (store) => {
    const publication = {
      ...candidate,
      kind: 'push',
      author: followAuthor,
      yes: true,
      signing,
      // After a failure the directory has the change already.
      message:
        added + removed === 0
          ? 'go-admin: as in its Casbin table'
          : `go-admin: ${count(added, 'line')} added, ${removed} removed`,
      over: { option, directory: { name, ...bases } },
      waitSeconds: undefined,
      replicas: undefined,
      replay: undefined,
    } as const
    const report = await publishPolicy(publication, { store, io })
    if (report === undefined) return decline('not published')
    const isNoted = await writeBase(place, candidate.set.revision)
    if (!isNoted) io.err(baseNotWritten(name))
  })
}
