import type { AccessChange, AccessDiff, Grant } from '../../src/policy/diff/access-change.ts'

/** What one role gains or loses by one rule. */
export interface Expanded extends Grant {
  readonly roleKey: string | undefined
  readonly cause: AccessChange['cause']
}

/** A diff without folding: an entry for each role and rule. */
export function expand({ changes }: AccessDiff): { gains: Expanded[]; losses: Expanded[] } {
  const of = (direction: AccessChange['direction']) =>
    changes
      .filter((change) => change.direction === direction)
      .flatMap(({ cause, shares }) =>
        shares.flatMap(({ roles, grants }) =>
          (roles.length === 0 ? [undefined] : roles).flatMap((roleKey) =>
            grants.map((grant) => ({ ...grant, roleKey, cause })),
          ),
        ),
      )
  return { gains: of('gain'), losses: of('loss') }
}
