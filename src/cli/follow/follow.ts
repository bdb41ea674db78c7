import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { failingTests } from '../../answers/policy-tests.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { Fault } from '../../kernel/errors.ts'
import { Declined, Refused } from '../../operations/declined.ts'
import { withGoAdminTable } from '../../operations/policy/go-admin-table.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { soleAuthorOf } from '../../operations/publish/author.ts'
import { baseNotWritten, readOver, writeBase } from '../../operations/publish/base.ts'
import { readCandidate } from '../../operations/publish/candidate.ts'
import {
  commitPublication,
  type Publication,
  reviewPublication,
} from '../../operations/publish/publication.ts'
import { checkOver } from '../../operations/publish/publishing.ts'
import { type Remark, type Reviewing, reviewParts } from '../../operations/publish/review.ts'
import type { Imported } from '../../policy/import/import-rows.ts'
import { followedModel, updateDirectory } from '../../stores/policies/follow/followed-directory.ts'
import {
  createFollower,
  type Followed,
  type FollowState,
  followAuthor,
} from '../../stores/policies/follow/follower.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { contextOf } from '../operation-context.ts'
import { remarksInWords } from '../publish/remark-in-words.ts'
import type { followSpec } from './specs.ts'

/** Publishes go-admin's policy whenever it changes. */
export const policyFollow: Run<typeof followSpec> = async (call, io) => {
  const {
    options: { interval = 3, once, table, over, key, metrics, output, config },
    arguments: [, named],
  } = call
  checkOver(over)
  const settings = policySettings(config, io)
  const name = named ?? settings.directory
  const { admission } = settings.admission()
  const context = contextOf(config, io)
  const tell = (remark: Remark) => io.err(remarksInWords([remark]))
  const reviewing = { settings, context, tell }
  const isPublished = settings.config?.policy.source === 'redis'
  const sole = isPublished
    ? await soleAuthorOf({ key, author: followAuthor }, name, reviewing)
    : undefined
  const directory = {
    directory: resolve(io.cwd, name),
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

  return withGoAdminTable({ table, config }, io, async (watched) => {
    const follower = createFollower({
      table: watched,
      domainModel: () => followedModel(directory),
      publish,
      log: createFollowLog(output, io),
      everyMs: interval * 1000,
      onChange() {
        if (metrics !== undefined) writeMetricsFile(resolve(io.cwd, metrics), follower.state())
      },
    })
    const stopped = untilStopped(io, once)
    await follower.start()
    await stopped
    await follower.close()
    return once && follower.state().stopped !== undefined ? exitCodes.no : exitCodes.done
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
  reviewing: Reviewing,
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

/** The first signal, or at once for a single comparison. */
async function untilStopped({ host }: Io, once: boolean): Promise<void> {
  if (once || host === undefined) return
  await new Promise<void>((stop) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) host.once(name, () => stop())
  })
}

/** A line for each event: text for people on `err`, or JSON on `out`. */
function createFollowLog(output: 'text' | 'json', io: Io): FeedLog {
  const at = () => new Date(io.now?.() ?? Date.now()).toISOString()
  const write = (level: 'info' | 'warn', fields: object, msg: string) => {
    if (output === 'json') return io.out(jsonLine({ level, time: at(), ...fields, msg }))
    const shown = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    )
    io.err(
      `${printable([at(), level === 'warn' ? 'warning:' : '', `${msg}:`, ...shown].filter(Boolean).join(' '))}\n`,
    )
  }
  return {
    info: (fields, text) => write('info', fields, text),
    warn: (fields, text) => write('warn', fields, text),
  }
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
