import { createAdmission } from '../../admission/verdict.ts'
import { failingTests } from '../../answers/policy-tests.ts'
import { accessSettings } from '../../config/access-settings.ts'
import { Invalid } from '../../kernel/errors.ts'
import { openForeignDatabase } from '../../stores/policies/casbin-rows.ts'
import { followedModel, updateDirectory } from '../../stores/policies/follow/followed-directory.ts'
import { addFollowMetrics, createFollower } from '../../stores/policies/follow/follower.ts'
import { watchCasbinTable } from '../../stores/policies/follow/table-fingerprint.ts'
import type { Assembly } from '../assembly.ts'
import type { ServeOptions } from '../options.ts'

/**
 * Follows go-admin's table, if configured. The first comparison comes before the policy is loaded, so
 * that what was revoked in go-admin while this gateway was down is revoked from the first request on.
 * Of several workers one follows: all of them watch the directory.
 */
export async function openFollower(
  { config, log, asWorker }: ServeOptions,
  assembly: Assembly,
): Promise<void> {
  const { follow, directory } = config.policy
  const { url } = config.database
  if (follow?.database !== true || url === undefined || (asWorker?.number ?? 1) !== 1) return
  const foreign = await openForeignDatabase({
    ...{ url, poolSize: 1, connectTimeoutMs: config.database.connectTimeoutMs },
    statementTimeoutMs: followTimeoutMs,
  })
  assembly.add({ close: foreign.close })
  const table = watchCasbinTable(foreign.db, follow.table)
  // Another database than go-admin's has other accounts, whose tokens go-admin would take for its own.
  await table.fingerprint().catch((error) => {
    if (error instanceof Invalid) throw error
  })
  let admission = createAdmission(accessSettings(config))
  const failing = (...[set, tests]: ToTest) => failingTests(set, tests, admission)
  const follower = createFollower({
    table,
    domainModel: () => followedModel({ directory, shown: directory }),
    publish: (imported) => updateDirectory(imported, { directory, shown: directory, failing }),
    everyMs: follow.intervalMs,
    log,
  })
  assembly.add({
    metrics: (registry) => addFollowMetrics(registry, follower.state),
    details: { policyFollow: follower.state },
    // Tests of the directory ask for the new routes from now on.
    apply(next) {
      admission = createAdmission(accessSettings(next))
    },
    close: follower.close,
  })
  await follower.start()
}

type ToTest = Parameters<Parameters<typeof updateDirectory>[1]['failing']>

/** Reading a hundred thousand rows takes longer than a login may. */
const followTimeoutMs = 30_000
