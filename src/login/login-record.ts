/** One attempt to log in, or a logout, as the login log keeps it. */
export interface LoginRecord {
  /** A UUID. Writing a record again under the same id changes nothing. */
  readonly attemptId: string
  /** The name as it was typed, known or not. */
  readonly username: string
  /** The product family's marks: `2` went well, `1` did not. */
  readonly status: '2' | '1'
  readonly message: string
  readonly address: string
  readonly userAgent: string
  readonly at: Date
}
