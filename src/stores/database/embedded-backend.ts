import { PGliteDialect } from 'kysely'
import { openEmbedded } from '../embedded/embedded-database.ts'
import { type Backend, withBackend } from './backend.ts'
import { postgresSql } from './postgres-backend.ts'
import { singleConnection } from './single-connection.ts'

/** PostgreSQL in this process, or in another one of this user that has the directory open. */
export const embedded: Backend = {
  kind: 'embedded',
  ...postgresSql,
  async connect(options) {
    const pglite = await openEmbedded(options)
    return singleConnection(withBackend(new PGliteDialect({ pglite }), embedded))
  },
}
