import { hostname } from 'node:os'
import type { Actor } from '../operations/context.ts'
import type { Io } from './io.ts'

/**
 * Who runs this command, for the audit log: the person whom the console knows, else the user of the
 * operating system, and from where.
 */
export function operator(io: Pick<Io, 'env' | 'actor' | 'userName'>): Actor {
  if (io.actor !== undefined) return io.actor
  // Set by sshd: address and port of the client, then of the server.
  const [client] = (io.env['SSH_CONNECTION'] ?? '').split(' ')
  const origin = client ? `${hostname()} (${client})` : hostname()
  return { kind: 'operator', name: io.userName || 'unknown', origin }
}
