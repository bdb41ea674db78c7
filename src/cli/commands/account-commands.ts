import type { Command } from '../io.ts'
import { later } from '../lazy-command.ts'

/** One line for each command, as the usage text has them. */
export const accountUsage = `  postern user add NAME --role KEY       make an account; prints its password once
  postern user passwd NAME               give an account a new password
  postern user role NAME KEY             give an account another role
  postern user disable|enable NAME       close an account, open it again
  postern user list                      who has an account
  postern token inspect TOKEN|-          whose token is it, and does a gateway take it?
  postern token revoke --user NAME       end tokens early; --token TOKEN|- ends one
  postern db migrate                     make the tables that are absent
`

/** The commands on accounts, tokens and their database, by their words. */
export const accountCommands: Readonly<Record<string, Command>> = {
  user: later(async () => (await import('../accounts/user.ts')).userCommand),
  'token inspect': later(async () => (await import('../accounts/token-inspect.ts')).tokenInspect),
  'token revoke': later(async () => (await import('../accounts/token-revoke.ts')).tokenRevoke),
  'db migrate': later(async () => (await import('../accounts/db-migrate.ts')).dbMigrate),
}
