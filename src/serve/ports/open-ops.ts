import type { Config } from '../../config/schema/schema.ts'
import type { OpsParts } from '../../http/ops-endpoints.ts'
import { closeOpsServer, createOpsServer } from '../../http/ops-server.ts'
import { listen } from '../../http/port/listen.ts'
import type { Closing } from '../../kernel/closing.ts'

/** Listens on the ops port, and returns its number. */
export async function openOps(
  { ops }: Pick<Config, 'ops'>,
  parts: OpsParts,
  closing: Closing,
): Promise<number> {
  const server = createOpsServer(parts)
  const port = await listen(server, ops)
  closing.add(() => closeOpsServer(server))
  return port
}
