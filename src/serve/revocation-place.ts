import { dirname, join } from 'node:path'
import type { SnapshotLocation } from '../stores/revocations/revocation-files.ts'
import type { ServeOptions } from './options.ts'

/**
 * Where the list of revoked tokens is kept: on by default, because a gateway that restarts while
 * Redis is unreachable would accept revoked tokens without it.
 */
export function revocationPlace({
  config: { application, policy, revocation },
  asWorker,
}: Pick<ServeOptions, 'config' | 'asWorker'>): SnapshotLocation {
  const beside =
    policy.snapshot === undefined ? application.dataDirectory : dirname(policy.snapshot)
  const file = revocation.snapshot ?? join(beside, 'revocations.snapshot')
  return { file, worker: asWorker?.number }
}
