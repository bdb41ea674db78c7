/** Says that tokens could not be revoked, and what to do. By ID, because names can have changed. */
export function stillValid(name: string, userIds: readonly string[], problem: string): string {
  const commands = userIds.map((id) => `"postern token revoke --user ${id}"`)
  const next = `once that is fixed, run ${commands.join(' and ')}`
  return `the tokens of ${name} are still valid: ${problem}; ${next}`
}
