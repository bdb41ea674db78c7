import { Fault } from '../../kernel/errors.ts'
import { readJson } from '../../kernel/json.ts'
import type { Run } from '../command.ts'
import { json, printable } from '../format.ts'
import { loginMs, notAConsole, readError, sendInSession } from './api-session.ts'
import { openGateway } from './gateway.ts'
import { send } from './send.ts'
import { readSession, removeSession } from './session-file.ts'
import type { logoutSpec, whoamiSpec } from './specs.ts'

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

/** Shows the session at a gateway. */
export const gatewayWhoami: Run<typeof whoamiSpec> = async ({ options }, io) => {
  const gateway = openGateway(options, io)
  const answer = await sendInSession(
    gateway,
    { method: 'GET', path: 'session', timeoutMs: loginMs },
    io,
  )
  const found = (readJson(answer.text) ?? {}) as Partial<Record<string, unknown>>
  const { username, role, expiresAt, write } = found
  if (typeof username !== 'string' || typeof role !== 'string') throw notAConsole(gateway)
  if (options.output === 'json') {
    io.out(json({ gateway: gateway.origin, username, role, write, expiresAt }))
    return 0
  }
  const may = write === true ? '' : ', which has console.write off'
  io.out(`${printable(`${username} (${role}) until ${expiresAt} at ${gateway.origin}${may}`)}\n`)
  return 0
}
