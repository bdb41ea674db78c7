import {
  addSpec,
  deleteSpec,
  disableSpec,
  enableSpec,
  listSpec,
  migrateSpec,
  passwdSpec,
  renameSpec,
  roleSpec,
  showSpec,
} from '../accounts/specs.ts'
import type { Command } from '../command.ts'
import { linkSpec, unlinkSpec } from '../identities/specs.ts'
import { totpSpec } from '../second-factor/specs.ts'
import { inspectSpec, revokeSpec } from '../tokens/specs.ts'
import { command } from './run-command.ts'
import { serviceTokenCommands } from './services.ts'

export const userCommands: readonly Command[] = [
  command(addSpec, async () => (await import('../accounts/user.ts')).userAdd),
  command(passwdSpec, async () => (await import('../accounts/user.ts')).userPasswd),
  command(roleSpec, async () => (await import('../accounts/user.ts')).userRole),
  command(disableSpec, async () => (await import('../accounts/user.ts')).userDisable),
  command(enableSpec, async () => (await import('../accounts/user.ts')).userEnable),
  command(renameSpec, async () => (await import('../accounts/user.ts')).userRename),
  command(linkSpec, async () => (await import('../identities/link.ts')).userLink),
  command(unlinkSpec, async () => (await import('../identities/link.ts')).userUnlink),
  command(deleteSpec, async () => (await import('../accounts/user.ts')).userDelete),
  command(totpSpec, async () => (await import('../second-factor/user-totp.ts')).userTotp),
  command(showSpec, async () => (await import('../accounts/user-show.ts')).userShow),
  command(listSpec, async () => (await import('../accounts/user-list.ts')).userList),
]

export const tokenCommands: readonly Command[] = [
  ...serviceTokenCommands,
  command(inspectSpec, async () => (await import('../tokens/token-inspect.ts')).tokenInspect),
  command(revokeSpec, async () => (await import('../tokens/token-revoke.ts')).tokenRevoke),
]

export const dbCommands: readonly Command[] = [
  command(migrateSpec, async () => (await import('../accounts/db-migrate.ts')).dbMigrate),
]
