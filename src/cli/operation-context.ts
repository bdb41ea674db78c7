import type { Context, Surroundings } from '../operations/context.ts'
import type { Io } from './io.ts'
import { operator } from './operator.ts'

/** What the operation of a command works with. */
export function contextOf(
  configFile: string | undefined,
  io: Surroundings &
    Pick<Io, 'actor' | 'userName' | 'protectedRoles'> &
    Partial<Pick<Io, 'readStdin'>>,
): Context {
  const readStdin = io.readStdin ?? (async () => '')
  return { ...io, readStdin, configFile, actor: operator(io), now: () => io.now?.() ?? Date.now() }
}
