import type { Command } from '../command.ts'
import { listSpec, locksSpec, testSpec, unlockSpec } from '../logins/specs.ts'
import { command } from './run-command.ts'

export const loginCommands: readonly Command[] = [
  command(listSpec, async () => (await import('../logins/list.ts')).loginList),
  command(locksSpec, async () => (await import('../logins/locks.ts')).loginLocks),
  command(testSpec, async () => (await import('../logins/test.ts')).loginTest),
  command(unlockSpec, async () => (await import('../logins/unlock.ts')).loginUnlock),
]
