/** A value that a caller gave for this field is not valid; its type or choices alone do not say so. */
export class InvalidInput extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'InvalidInput'
    this.field = field
  }
}
