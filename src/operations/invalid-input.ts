/** What a caller gave is not valid; types and choices alone do not say so. */
export class InvalidInput extends Error {
  /** The field with the wrong value; `undefined`: fields do not fit together, and the message names them. */
  readonly field: string | undefined

  constructor(field: string | undefined, message: string) {
    super(message)
    this.name = 'InvalidInput'
    this.field = field
  }
}

/** A value that is well-formed and cannot be used, such as a common password: usage lines do not help. */
export class UnusableValue extends InvalidInput {
  constructor(message: string) {
    super(undefined, message)
  }
}
