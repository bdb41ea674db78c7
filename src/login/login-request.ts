/** The four fields of a login, bound and bounded. */
export interface LoginRequest {
  readonly username: string
  readonly password: string
  readonly uuid: string
  readonly code: string
}
