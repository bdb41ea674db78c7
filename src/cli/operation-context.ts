import type { Context } from '../operations/context.ts'
import type { Io } from './io.ts'
import { operator } from './operator.ts'

/** What the operation of a command works with. */
export function contextOf(
  configFile: string | undefined,
  io: Pick<Io, 'env' | 'cwd' | 'err' | 'actor' | 'userName' | 'shared' | 'draft' | 'now'>,
): Context {
  const { env, cwd, err, shared, draft } = io
  return {
    ...{ env, cwd, err, configFile, actor: operator(io), now: () => io.now?.() ?? Date.now() },
    ...(shared !== undefined && { shared }),
    ...(draft !== undefined && { draft }),
  }
}
