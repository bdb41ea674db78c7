import { readJson } from '../../kernel/json.ts'
import type { Run } from '../command.ts'
import { json, printable } from '../format.ts'
import { loginMs, notAConsole, sendInSession } from './api-session.ts'
import { openGateway } from './gateway.ts'
import type { whoamiSpec } from './specs.ts'

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
