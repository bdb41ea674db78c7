import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import type { listSpec } from './specs.ts'

/** Lists the service accounts as a table or as one JSON document. IDs are text, so that they are exact. */
export const serviceList: Run<typeof listSpec> = async ({ options }, io) => {
  const services = await withDatabase(accountSettings(options.config, io), (database) =>
    createServiceDirectory(database).list(),
  )
  if (options.output === 'json') {
    io.out(json(services.map(({ roleKey: role, ...service }) => ({ ...service, role }))))
    return 0
  }
  const rows = services.map(({ userId, name, roleKey, createdAt, note }) => {
    return [userId, name, roleKey, createdAt.toISOString(), note]
  })
  io.out(formatTable([['ID', 'NAME', 'ROLE', 'CREATED', 'NOTE'], ...rows]))
  return 0
}
