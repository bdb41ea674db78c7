import type { Closing } from '../../closing.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createOpsServer, type OpsServerParts } from '../../http/ops-server.ts'
import { listen } from '../../http/port/listen.ts'

/** Listens on the ops port, and returns its number. */
export async function openOps(
  { ops }: Pick<Config, 'ops'>,
  parts: OpsServerParts,
  closing: Closing,
): Promise<number> {
  const opsServer = createOpsServer(parts)
  const port = await listen(opsServer.server, ops, () => opsServer.ready())
  closing.add(() => opsServer.close())
  return port
}
