import type { Part } from '../fleet/part.ts'
import type { DeepPartial } from '../kernel/deep-partial.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Caller } from '../token/caller.ts'
import type { ClaimPicker } from '../token/carried-claims.ts'
import type { KeySet } from '../token/key-set.ts'
import type { TokenRevocation } from '../token/revocations.ts'
import type { LinkedAccounts } from './linked-account.ts'
import type { OnIssued } from './login.ts'
import type { LoginMethod, Verified } from './login-method.ts'
import type { PasswordHash } from './password-hash.ts'
import type { ProviderSessions, Redirects } from './redirect-login.ts'

/**
 * A kind of login method: all that the rest of Postern knows of it. `Settings` are those of the section
 * `login` that it reads. What is not loaded by `load` is loaded by every command.
 */
export interface LoginMethodKind<Settings> {
  isConfigured(login: DeepPartial<Settings>): boolean
  /** The setting of `login` to set for it. Absent: it is there without one. */
  readonly setting?: string
  /** Reports settings that do not fit together, by their place below `login`. */
  check?(login: DeepPartial<Settings>, say: Say): void
  /** Whom accounts can be linked to. Absent: its name is not in the configuration. */
  providers?(login: DeepPartial<Settings>): readonly LoginProvider[]
  load(): Promise<LoadedMethodKind<Settings>>
}

/** Adds a problem of a setting, such as `ldap.urls[0]`, unless it has one already. */
export type Say = (setting: string, problem: string) => void

/** A configured system that vouches for people. Settings may lack what does not fit the schema. */
interface LoginProvider {
  readonly name: string | undefined
  /** What its links belong to. */
  readonly issuer: string | undefined
  /** Where it is configured, below `login`. */
  readonly setting: string
  /** A picture for the login page: the file that its setting `icon` names. */
  readonly icon?: string | undefined
}

interface LoadedMethodKind<Settings> {
  /** Opens what is configured. Throws `Invalid` where a gateway must not start. */
  open(login: Settings, parts: MethodParts): Promise<OpenLoginMethod>
  /** What `postern doctor` asks. Paths of files are relative to `directory`. */
  probes?(login: Settings, directory: string): readonly Probe[]
  /** The files that a gateway reads at its start. `names`: of all other methods. */
  files?(
    login: DeepPartial<Settings>,
    directory: string,
    names: readonly string[],
  ): readonly NamedFile[]
}

/** One question of `postern doctor`, of a setting such as `login.oidc[0]`. */
export interface Probe {
  readonly setting: string
  /** `onDate` hears the clock of the other side. */
  run(onDate: (url: string, askedAt: number, date: string) => void): Promise<readonly Answer[]>
}

type Answer = { readonly ok: string } | FailedProbe

export interface FailedProbe {
  readonly error: unknown
  readonly url: string
  /** Such as "the provider". */
  readonly server: string
  /** The setting with its address. */
  readonly address: string
  /** How to trust its certificate. */
  readonly trust: string
  /** False where people can log in all the same. */
  readonly isNeeded: boolean
  /** Instead of the words for an error of the network. */
  readonly instead?: { readonly message: string; readonly fix: string } | undefined
}

export interface NamedFile {
  readonly setting: string
  /** The certificates of authorities, or what reads the file. */
  readonly caFile?: string
  readonly read?: () => Promise<unknown>
}

/** What methods are built on. */
export interface MethodParts {
  readonly log: Log
  readonly registry: MetricRegistry
  /** Seconds since the epoch. */
  readonly now: () => number
  /** False in a process beside others, which does not log what is configured. */
  readonly isAlone: boolean
  readonly keys: () => KeySet
  readonly findAccount: FindAccount
  readonly passwordHash: PasswordHash
  /** Checks names and passwords in another way. */
  readonly verifyPassword: VerifyPassword | undefined
  readonly linkedAccounts: LinkedAccounts
  /** What services learn about those who log in. */
  readonly claims: ClaimPicker
  /** Whether this is the first claim of a name, on whichever gateway. */
  readonly claim: (name: string, untilMs: number) => Promise<boolean>
  readonly providerSessions: ProviderSessions
  /** Revokes a token, and ends its session. */
  readonly endToken: (token: TokenRevocation) => Promise<unknown>
  /** Appends to the audit log that a provider ended these sessions. Does not throw. */
  readonly recordEnded: (provider: string, tokens: readonly TokenRevocation[]) => Promise<void>
  /** Set at the console: makes the URL of a callback there. Without `console.url` it cannot. */
  readonly console?: { readonly callbackOf: ((path: string) => string) | undefined } | undefined
  /** The names of all methods that the configuration names. */
  readonly names: readonly string[]
  /** Who else knows names and passwords: of the methods before this one. */
  readonly passwords: PasswordSource | undefined
}

/** A method that is open. */
export interface OpenLoginMethod extends Part {
  /** What the field `provider` of a login can choose. */
  readonly methods?: readonly LoginMethod[]
  /**
   * Set where a form carries the credentials: then the first method is one that a login without
   * `provider` may get. `password`: the form has a name and a password.
   */
  readonly form?: 'password' | 'other' | undefined
  readonly passwords?: PasswordSource
  readonly redirects?: Redirects
  readonly onIssued?: OnIssued
}

/** People whose passwords another system knows. */
interface PasswordSource {
  readonly mostBytes: number
  /** `own` checks the passwords of accounts here, if these log in. */
  verify(own: VerifyPassword | undefined): VerifyNamed
}

export interface NameAndPassword {
  readonly username: string
  readonly password: string
}

/** Returns `undefined` for a wrong name or password. Throws only when it cannot decide. */
export type VerifyPassword = (given: NameAndPassword) => Promise<Caller | undefined>
export type VerifyNamed = (given: NameAndPassword) => Promise<Verified | undefined>

export interface Account {
  readonly caller: Caller
  readonly passwordHash: string
  readonly enabled: boolean
}

export type FindAccount = (username: string) => Promise<Account | undefined>
