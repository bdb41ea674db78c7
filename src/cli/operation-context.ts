import type { Context, Surroundings } from '../operations/context.ts'
import type { Io } from './io.ts'
import { operator } from './operator.ts'

/** What the operation of a command works with. */
export function contextOf(
  configFile: string | undefined,
  io: Surroundings & Pick<Io, 'actor' | 'userName'>,
): Context {
  return { ...io, configFile, actor: operator(io), now: () => io.now?.() ?? Date.now() }
}
