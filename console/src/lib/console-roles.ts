const order = ['reader', 'author', 'publisher'] as const

/** Whether a console role may do what another one may. */
export function isAtLeast(role: (typeof order)[number], needed: (typeof order)[number]): boolean {
  return order.indexOf(role) >= order.indexOf(needed)
}
