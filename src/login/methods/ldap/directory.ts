import type { NameAndPassword } from '../../method-kind.ts'

/** The entry of someone whose password was right. */
export interface Person {
  /** The lasting ID of the entry. */
  readonly subject: string
  readonly username: string
  readonly displayName: string | undefined
  readonly email: string | undefined
  /** DNs, or the values of the configured attribute as they are. */
  readonly groups: readonly string[]
}

/** Who has this name and password; `undefined` if they are wrong. Throws a Fault if it cannot tell. */
export type VerifyInDirectory = (given: NameAndPassword) => Promise<Person | undefined>
