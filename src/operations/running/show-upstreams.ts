import { Fault } from '../../kernel/errors.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import { askOps } from './ask-ops.ts'
import type { upstreams } from './descriptions.ts'
import { opsAddress } from './ops-address.ts'

/** Shows the targets of a running gateway. */
export const run: RunOf<typeof upstreams> = async ({ ops }, context) => {
  const { status, body } = await askOps(opsAddress(ops, context), '/upstreams')
  if (isReport(body)) return { document: body }
  const reason = `the gateway answered ${status} without a list of upstreams: it may be older than this command`
  throw new Fault('gateway', { reason })
}

function isReport(body: unknown): body is DocumentOf<typeof upstreams> {
  return Array.isArray(Object(body).upstreams)
}
