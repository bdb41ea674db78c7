import type { RefusalKind } from '../../kernel/errors.ts'

/** A Refusal as data: thrown inside a transaction it would become a Fault of the database. */
export interface Refused {
  readonly refused: Extract<RefusalKind, 'no-account' | 'account-disabled' | 'no-role'>
  readonly reason: string
}

export function refused(kind: Refused['refused'], reason: string): Refused {
  return { refused: kind, reason }
}
