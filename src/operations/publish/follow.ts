import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { failingTests } from '../../answers/policy-tests.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { count } from '../../kernel/count.ts'
import { Fault } from '../../kernel/errors.ts'
import type { Imported } from '../../policy/import/import-rows.ts'
import { followedModel, updateDirectory } from '../../stores/policies/follow/followed-directory.ts'
import {
  createFollower,
  type Followed,
  type FollowState,
  followAuthor,
} from '../../stores/policies/follow/follower.ts'
import type { Context } from '../context.ts'
import { Declined, Refused } from '../declined.ts'
import { withGoAdminTable } from '../policy/go-admin-table.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import { soleAuthorOf } from './author.ts'
import { baseNotWritten, readOver, writeBase } from './base.ts'
import { readCandidate } from './candidate.ts'
import { commitPublication, type Publication, reviewPublication } from './publication.ts'
import { checkOver } from './publishing.ts'
import { type ReviewIo, reviewParts, type Tell } from './review.ts'

type Options = 'table' | 'directory' | 'over' | 'key' | 'metrics'

/** What the options of the command say. */
interface Following extends Readonly<Record<Options, string | undefined>> {
  readonly everyMs: number
}

/** Who reads along, and when it is enough. */
export interface Watching {
  readonly tell: Tell
  readonly log: FeedLog
  /** Called before the first comparison. */
  readonly untilStopped: () => Promise<void>
}

/** Publishes go-admin's policy whenever it changes. Returns whether the last attempt succeeded. */
export async function followGoAdmin(
  { table, directory: named, everyMs, over, key, metrics }: Following,
  context: Context,
  { tell, log, untilStopped }: Watching,
): Promise<boolean> {
  checkOver(over)
  const { configFile, cwd } = context
  const settings = policySettings(configFile, context)
  const name = named ?? settings.directory
  const { admission } = settings.admission()
  const reviewing = { settings, context, tell }
  const isPublished = settings.config?.policy.source === 'redis'
  const sole = isPublished
    ? await soleAuthorOf({ key, author: followAuthor }, name, reviewing)
    : undefined
  const directory = {
    directory: resolve(cwd, name),
    shown: name,
    failing: (...[set, tests]: ToTest) => failingTests(set, tests, admission),
  }
  let first = over
  async function publish(imported: Imported): Promise<Followed> {
    const followed = await updateDirectory(imported, directory)
    if (sole === undefined) return followed
    await publishDirectory({ ...sole, name, followed, over: first }, reviewing)
    first = undefined
    return followed
  }

  return withGoAdminTable(table, context, async (watched) => {
    const follower = createFollower({
      ...{ table: watched, publish, log, everyMs },
      domainModel: () => followedModel(directory),
      onChange() {
        if (metrics !== undefined) writeMetricsFile(resolve(cwd, metrics), follower.state())
      },
    })
    const stopped = untilStopped()
    await follower.start()
    await stopped
    await follower.close()
    return follower.state().stopped === undefined
  })
}

type ToTest = Parameters<Parameters<typeof updateDirectory>[1]['failing']>

interface FollowedChange extends Pick<Publication, 'author' | 'signer'> {
  /** The directory. */
  readonly name: string
  readonly followed: Followed
  /** The value of `--over`. */
  readonly over: string | undefined
}

/** What a person would accept after a look: tests are not required here, and those that exist ran. */
const accepted = {
  accounts: false,
  'allow-slow': false,
  'allow-empty': false,
  'no-tests': true,
} as const

/** Publishes a directory to Redis as "policy push --yes" does. Throws when that is refused. */
async function publishDirectory(
  { name, followed, over: option, author, signer }: FollowedChange,
  reviewing: ReviewIo,
): Promise<void> {
  const { settings, tell } = reviewing
  const candidate = await readCandidate(name, accepted, reviewing).catch((error: unknown) => {
    const isInvalid = error instanceof Refused
    throw isInvalid ? new Declined(`${name} is not valid: see the lines above`) : error
  })
  const { place, set } = candidate
  const over = await readOver(option, name, place)
  const { added, removed } = followed
  // After a failure the directory has the change already.
  const message =
    added + removed === 0
      ? 'go-admin: as in its Casbin table'
      : `go-admin: ${count(added, 'line')} added, ${removed} removed`
  const publication = {
    ...({ ...candidate, kind: 'push', author, message } as const),
    ...{ over, signer, isAsked: false, replay: undefined },
  }
  await withPolicyStore(settings, async (store) => {
    const parts = reviewParts(store, reviewing)
    await commitPublication(await reviewPublication(publication, parts), parts)
    const isNoted = place !== undefined && (await writeBase(place, set.revision))
    if (!isNoted) tell({ note: baseNotWritten(name) })
  })
}

/** Writes the metrics of a gateway that follows, under the same names. */
function writeMetricsFile(file: string, state: FollowState): void {
  const { ok, failed } = state.reloads
  const lines = [
    '# TYPE postern_policy_follow_reloads_total counter',
    `postern_policy_follow_reloads_total{result="ok"} ${ok}`,
    `postern_policy_follow_reloads_total{result="failed"} ${failed}`,
    '# TYPE postern_policy_follow_last_reload_success gauge',
    `postern_policy_follow_last_reload_success ${state.stopped === undefined ? 1 : 0}`,
  ]
  if (state.checkedAt !== undefined) {
    const name = 'postern_policy_follow_checked_timestamp_seconds'
    lines.push(`# TYPE ${name} gauge`, `${name} ${Date.parse(state.checkedAt) / 1000}`)
  }
  try {
    // The collector must not read half a file.
    writeFileSync(`${file}.tmp`, `${lines.join('\n')}\n`)
    renameSync(`${file}.tmp`, file)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new Fault('policies', { reason: `--metrics: ${file} cannot be written (${code})` })
  }
}
