/** A command refuses to do what the user asked: one line that says why, and the exit code `no`. */
export class Declined extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Declined'
  }
}

/** The command would do it for someone with more rights. */
export class NotPermitted extends Declined {}

export function decline(reason: string): never {
  throw new Declined(reason)
}
