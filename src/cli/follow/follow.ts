import { resolve } from 'node:path'
import { failingTests } from '../../answers/policy-tests.ts'
import { policySettings } from '../../operations/policy-settings.ts'
import type { Imported } from '../../policy/import/import-rows.ts'
import { followedModel, updateDirectory } from '../../stores/policies/follow/followed-directory.ts'
import {
  createFollower,
  type Followed,
  followAuthor,
} from '../../stores/policies/follow/follower.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { withGoAdminTable } from '../go-admin-table.ts'
import type { Io } from '../io.ts'
import { checkOver } from '../publish/publish.ts'
import { soleAuthorOf } from '../publish/signer.ts'
import { createFollowLog } from './follow-log.ts'
import { writeMetricsFile } from './metrics-file.ts'
import { publishDirectory } from './publish-directory.ts'
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
  const isPublished = settings.config?.policy.source === 'redis'
  const sole = isPublished
    ? await soleAuthorOf({ key, author: followAuthor }, settings.trust(), { proposed: name, io })
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
    const change = { ...sole, name, followed, over: first }
    await publishDirectory(change, { settings, io })
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

/** The first signal, or at once for a single comparison. */
async function untilStopped({ host }: Io, once: boolean): Promise<void> {
  if (once || host === undefined) return
  await new Promise<void>((stop) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) host.once(name, () => stop())
  })
}
