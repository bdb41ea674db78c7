import type { Io } from '../../cli/io.ts'
import type { Task } from './question-thread.ts'

/** What every command of the console may touch. */
export type ConsoleIo = Pick<Io, 'cwd' | 'env' | 'shared'>

/**
 * For one person: they act, not the user of the operating system that the console runs as. A change
 * gets stores of its own, because it may make Redis wait for its replicas.
 */
export function personIo(
  task: Pick<Task, 'username' | 'address' | 'writes' | 'protectedRoles' | 'draft'>,
  { cwd, env, shared }: ConsoleIo,
) {
  const { username, address, writes, protectedRoles, draft } = task
  return {
    cwd,
    env,
    userName: username,
    actor: { kind: 'user', name: username, origin: `${address} (console)` } as const,
    protectedRoles,
    ...(draft !== undefined && { draft }),
    ...(!writes && shared !== undefined && { shared }),
  }
}
