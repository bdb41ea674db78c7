import { hostname } from 'node:os'
import type { Actor, Context } from '../operations/context.ts'
import type { Io } from './io.ts'

/** What the operation of a command works with. */
export function contextOf(configFile: string | undefined, io: Io): Context {
  return { ...io, configFile, actor: operator(io), now: () => io.now?.() ?? Date.now() }
}

/** Who runs this command, for the audit log: the user of the operating system, and from where. */
function operator(io: Pick<Io, 'env' | 'userName'>): Actor {
  // Set by sshd: address and port of the client, then of the server.
  const [client] = (io.env['SSH_CONNECTION'] ?? '').split(' ')
  const origin = client ? `${hostname()} (${client})` : hostname()
  return { kind: 'operator', name: io.userName || 'unknown', origin }
}
