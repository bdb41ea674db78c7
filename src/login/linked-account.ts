import type { Verified } from './login-method.ts'

/** A person as another system vouches for them: an identity provider, a directory, a login module. */
export interface Identity {
  /** The name of the login method, as configured. */
  readonly provider: string
  /**
   * Who vouches for the subject: the issuer of an ID token. Absent: the provider's name. Links belong to
   * it, so a provider name that is given to another issuer opens none of the old accounts.
   */
  readonly issuer?: string | undefined
  /** What never changes and is never given to another person there. */
  readonly subject: string
  readonly username: string
  /** Whether people may have chosen the user name there, so that it selects and names no account here. */
  readonly hasUnverifiedName?: boolean | undefined
  readonly displayName?: string | undefined
  readonly email?: string | undefined
  /** The role that the groups of this person map to. Absent: the account keeps its own. */
  readonly roleKey?: string | undefined
  /** Why the groups map to no role: this person has none here any more. */
  readonly roleProblem?: string | undefined
}

/** What a login of another system's user may change here. */
export interface LinkRules {
  /** Creates an account at the first login. That needs a `roleKey`. */
  readonly create: boolean
  /** Links an existing account of exactly this name at the first login. Never one with role `admin`. */
  readonly linkByUsername: boolean
  /** Whether the login asks for no one-time code, so that linking by name would take it off an account. */
  readonly skipsSecondFactor?: boolean | undefined
  /** Gives the account the role `roleKey` at every login. Otherwise only new accounts get it. */
  readonly syncRole: boolean
}

/** Accounts of people that another system vouches for. */
export interface LinkedAccounts {
  /**
   * The account of this person, after the changes that the rules allow. Throws the Refusal `no-account`,
   * `account-disabled` or `no-role`, and a Fault when it cannot decide. `no-role` revokes the tokens that
   * this person has from before.
   */
  signIn(identity: Identity, rules: LinkRules): Promise<Verified>
  /** Whether the account that this name selects has a password here and no link to `issuer`. */
  isLocal(username: string, issuer: string): Promise<boolean>
}
