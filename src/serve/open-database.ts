import type { Database } from '../stores/database/database.ts'
import { openDatabase as open } from '../stores/database/open-database.ts'
import type { Assembly } from './assembly.ts'
import type { ServeOptions } from './options.ts'

/** The database of accounts, which a gateway may create. */
export async function openDatabase(
  { config, log }: ServeOptions,
  assembly: Assembly,
): Promise<Database> {
  const { dataDirectory } = config.application
  const database = await open({
    ...config.database,
    directory: dataDirectory,
    mayCreate: true,
    onCreate: () => log.info({ directory: dataDirectory }, 'creating the embedded database'),
    // Only login needs the database; calls with a token do not.
    onUnreachable: (fault) => log.warn({ reason: fault.message }, 'database unreachable'),
    onUnguardedAudit: () =>
      log.warn(
        'rows of postern_audit can be changed: the database denied the triggers that reject it; run "postern db migrate" as a user with the privilege TRIGGER, or revoke UPDATE and DELETE on the table',
      ),
  })
  assembly.add({ close: database.close })
  return database
}
