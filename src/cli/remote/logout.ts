import { Fault } from '../../kernel/errors.ts'
import type { Run } from '../command.ts'
import { loginMs, readError } from './api-session.ts'
import { openGateway } from './gateway.ts'
import { send } from './send.ts'
import { readSession, removeSession } from './session-file.ts'
import type { logoutSpec } from './specs.ts'

/** Ends the session there and deletes it here. */
export const gatewayLogout: Run<typeof logoutSpec> = async ({ options }, io) => {
  const gateway = openGateway(options, io)
  const session = await readSession(gateway, io)
  await removeSession(gateway, io)
  if (session === undefined) {
    io.err(`not logged in to ${gateway.origin}\n`)
    return 0
  }
  const { cookie } = session
  const answer = await send(gateway, {
    ...{ method: 'POST', path: 'logout', body: {}, cookie, timeoutMs: loginMs },
  })
  // An expired or revoked session has ended already.
  if (answer.status !== 200 && answer.status !== 401) {
    throw new Fault('gateway', { reason: readError(answer).message })
  }
  io.out(`logged out of ${gateway.origin}\n`)
  return 0
}
