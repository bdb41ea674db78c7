/** The caller by the token. IDs are decimal strings, so that values above 2^53 are not rounded. */
export interface Caller {
  readonly userId: string
  readonly roleId: string
  readonly roleKey: string
  readonly roleName: string
  readonly username: string
  readonly dataScope: string
}
