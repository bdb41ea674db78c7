/** What people may do in the console, each role with all rights of those before it. */
const consoleRoles = ['reader', 'author', 'publisher'] as const

export type ConsoleRole = (typeof consoleRoles)[number]

/**
 * The console role of accounts with this role key, or of the service account with this name; `undefined`:
 * they may not use the console.
 */
export type FindConsoleRole = (key: string) => ConsoleRole | undefined

export function createConsoleRoles(
  settings: Readonly<Record<ConsoleRole, readonly string[]>>,
): FindConsoleRole {
  const byKey = new Map(
    consoleRoles.flatMap((role) => settings[role].map((key) => [key, role] as const)),
  )
  return (key) => byKey.get(key)
}

/** The roles that people with this role key must neither give nor take from accounts. */
export type FindProtectedRoles = (roleKey: string) => readonly string[]

/** The role that may make every call, at the gateway as in the console. */
const adminKey = 'admin'

/**
 * Only an administrator gives these roles, and changes accounts that have them: else a publisher would
 * become an administrator, by a new role, or by a new password for one who is.
 */
export function createProtectedRoles(settings: {
  readonly publisher: readonly string[]
}): FindProtectedRoles {
  const roles = [...new Set([adminKey, ...settings.publisher])]
  return (roleKey) => (roleKey === adminKey ? [] : roles)
}

export function isAtLeast(role: ConsoleRole, needed: ConsoleRole): boolean {
  return consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed)
}
