/** A command refuses to do what the user asked: one line that says why, and the exit code `no`. */
export class Declined extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Declined'
  }
}

/** The command would do it for someone with more rights. */
export class NotPermitted extends Declined {}

/** The answer is no, or the input is not valid, as a document says; what was told before explains it. */
export class Refused extends Error {
  readonly outcome: 'no' | 'invalid' | 'testsFailed'
  /** Absent: what was told is all. */
  readonly document: unknown

  constructor({ outcome, document }: Pick<Refused, 'outcome' | 'document'>) {
    super('refused')
    this.name = 'Refused'
    this.outcome = outcome
    this.document = document
  }
}

/** Throws the reason. */
export function decline(reason: string | Error): never {
  throw typeof reason === 'string' ? new Declined(reason) : reason
}
