import type { Command } from '../command.ts'
import { loginSpec, logoutSpec, whoamiSpec } from '../remote/specs.ts'
import { command } from './run-command.ts'

export const gatewayCommands: readonly Command[] = [
  command(loginSpec, async () => (await import('../remote/login.ts')).gatewayLogin),
  command(logoutSpec, async () => (await import('../remote/session.ts')).gatewayLogout),
  command(whoamiSpec, async () => (await import('../remote/session.ts')).gatewayWhoami),
]
