import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { inDatabase } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import type { serviceList } from './descriptions.ts'

/** Lists the service accounts. IDs are text, so that they are exact. */
export const run: RunOf<typeof serviceList> = (_, context) =>
  inDatabase(context, async (database) => {
    const services = await createServiceDirectory(database).list()
    return {
      document: services.map(({ roleKey: role, createdAt, ...service }) => {
        return { ...service, createdAt: createdAt.toISOString(), role }
      }),
    }
  })
