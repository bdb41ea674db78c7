/** A clause of the matcher that makes every rule match one role: `… || r.sub == "root"`. */
export interface SuperuserClause {
  readonly roleKey: string
  /** With g(): also the roles that inherit from it. */
  readonly inherited: boolean
  /** As the matcher has it. */
  readonly text: string
}

/** The place of the clause that names this role, or a role that it inherits from; -1 if none does. */
export function superuserClauseOf(
  roleKey: string,
  ancestors: readonly string[],
  clauses: readonly SuperuserClause[],
): number {
  return clauses.findIndex(
    (clause) =>
      clause.roleKey === roleKey || (clause.inherited && ancestors.includes(clause.roleKey)),
  )
}
