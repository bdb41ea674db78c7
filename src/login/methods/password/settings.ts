export interface PasswordLogin {
  /** Whether passwords of accounts here log in. */
  readonly local: boolean
}
