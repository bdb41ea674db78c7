import type { Move } from '../document/policy-keys.ts'

/** What tells one move from another. Version 0.1.0 gives moves no id. */
export function moveKey({ id, sequence, revision }: Move): string {
  // Redis may contain anything, and this is the key of a table.
  return id !== undefined && /^[\w-]{1,64}$/.test(id) ? id : `${sequence}-${revision}`
}
