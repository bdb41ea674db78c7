import type { Session } from '#client'

export type ConsoleRole = Session['role']

const order: readonly ConsoleRole[] = ['reader', 'author', 'publisher']

/** Whether a console role may do what another one may. */
export function isAtLeast(role: ConsoleRole, needed: ConsoleRole): boolean {
  return order.indexOf(role) >= order.indexOf(needed)
}
