/** Who calls, as the token says. IDs are decimal text, so that none above 2^53 is rounded. */
export interface Caller {
  readonly userId: string
  readonly roleId: string
  readonly roleKey: string
  readonly roleName: string
  readonly username: string
  readonly dataScope: string
}
