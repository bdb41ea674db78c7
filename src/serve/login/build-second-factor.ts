import { didYouMean } from '../../kernel/suggest.ts'
import type { Log } from '../../log/log.ts'
import { sealPurpose } from '../../login/second-factor/sealed-secret.ts'
import { createSecondFactor } from '../../login/second-factor/second-factor.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import { createSecondFactorStore } from '../../stores/second-factor/second-factor-store.ts'
import { createDerivedKeys } from '../../token/derived-keys.ts'
import { clock, type ServeOptions } from '../options.ts'

/** One-time codes, on the accounts' database. */
export function buildSecondFactor(
  { config, log, now = clock, asWorker }: ServeOptions,
  { database, keys }: { readonly database: Database; readonly keys: OpenKeys['current'] },
  timeoutMs: number,
) {
  const { roles } = config.login.secondFactor
  if (roles.length > 0 && (asWorker?.number ?? 1) === 1) {
    log.info({ roles }, 'second factor required')
    void warnOfUnknownRoles(database, roles, log)
  }
  return createSecondFactor({
    store: createSecondFactorStore(database, timeoutMs),
    keys: createDerivedKeys(keys, sealPurpose),
    roles,
    now,
    log,
  })
}

/** A misspelled role would leave the real one without a second factor. */
async function warnOfUnknownRoles(
  database: Database,
  roles: readonly string[],
  log: Log,
): Promise<void> {
  // Without the database no login succeeds, and that has a warning of its own.
  const known = await createAccountDirectory(database)
    .roleKeys()
    .catch(() => roles)
  for (const role of roles) {
    if (known.includes(role)) continue
    const reason = `role ${JSON.stringify(role)} does not exist${didYouMean(role, known)}`
    log.warn({ reason }, 'login.secondFactor.roles names an unknown role')
  }
}
