import { afterAll, test } from 'vitest'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { seedOn } from '../support/seeded-database.ts'

// The suites of commands that have a database, on a real MariaDB.
if (findMariadb() === undefined) {
  test.skip('MariaDB is not installed: the suites of commands do not run on it')
} else {
  const server = await startMariadb()
  afterAll(server.stop)
  seedOn(server)

  await import('../cli/audit.test.ts')
  await import('../cli/login-list.test.ts')
  await import('../cli/login-locks.test.ts')
  await import('../cli/role.test.ts')
  await import('../cli/service.test.ts')
  await import('../cli/session.test.ts')
  await import('../cli/user-link.test.ts')
  await import('../cli/user.test.ts')
}
