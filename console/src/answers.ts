/** What the management API answers, as far as the pages read it. The documents are those of the commands. */

export interface Session {
  readonly username: string
  readonly roleKey: string
  readonly role: ConsoleRole
  /** Whether the console may change anything. */
  readonly write: boolean
  /** `dev`: the gateway is not safe for a network. */
  readonly mode: string
  /** How its owner proves that they are there: with a password, or at their identity provider. */
  readonly confirmBy: 'password' | 'provider'
  readonly provider: string | null
}
export type ConsoleRole = 'reader' | 'author' | 'publisher'

export interface Captcha {
  readonly id: string
  /** A picture as a data: address. */
  readonly data: string
  /** The address of a recording. */
  readonly audio: string
}

/** What a login form needs. */
export interface LoginMethods {
  readonly password: boolean
  readonly captcha: boolean
  readonly providers: readonly { readonly name: string; readonly url: string }[]
}

interface Origin {
  readonly file: string
  readonly line: number
}
export interface Call {
  readonly method: string
  readonly path: string
}

export interface Rule extends Call {
  readonly roleKey: string
  readonly effect: 'allow' | 'deny'
  readonly origin: Origin
  readonly fields?: readonly string[]
  readonly until?: string
}

export interface Exclusion extends Call {
  readonly reason: string
  readonly origin: Origin
  readonly until?: string
}

/** A rule, and the roles between the asked one and that of the rule, nearest first. */
export interface HeldRule {
  readonly rule: Rule
  readonly via: readonly string[]
  readonly until?: string
}

export type Access = 'permitted' | 'authenticated' | 'public'

interface AboutPolicy {
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

/** `policy explain` */
export interface ExplainAnswer extends Call {
  readonly allowed: boolean
  readonly step:
    | 'admin'
    | 'exclusion'
    | 'superuser'
    | 'rule'
    | 'none'
    | 'route'
    | 'endpoint'
    | 'refused'
  readonly need?: 'nothing' | 'identity' | 'permission'
  readonly isUnserved: boolean
  readonly roleKey: string | null
  readonly refusal?: string
  /** Why the gateway refuses the call to everyone. */
  readonly refused?: string
  readonly rule?: Rule
  readonly exclusion?: Exclusion
  readonly clause?: string
  readonly route: string | null
  readonly access: Access | null
  readonly upstream: string | null
  readonly endpoint: string | null
  readonly nearMisses: readonly {
    readonly differs: 'method' | 'role' | 'expired'
    readonly rule: Rule
  }[]
  readonly policy: string | null
  readonly revision: string | null
  readonly notes: readonly string[]
}

/** `policy who` */
export interface WhoAnswer extends AboutPolicy, Call {
  readonly allows: 'none' | 'roles' | 'authenticated' | 'everyone'
  readonly refused?: string
  readonly isUnserved: boolean
  readonly route: string | null
  readonly access: Access | null
  readonly upstream: string | null
  readonly endpoint: string | null
  readonly exclusion: Exclusion | null
  readonly admin: { readonly allowed: boolean; readonly accounts?: AccountCount | null }
  readonly superusers: readonly { readonly roleKey: string; readonly clause: string }[]
  readonly roles: readonly RoleByRule[]
  readonly deniedRoles: readonly RoleByRule[]
  readonly otherMethods: readonly Rule[]
}

export interface RoleByRule extends HeldRule {
  readonly roleKey: string
  readonly alsoAllowedBy: readonly HeldRule[]
  /** `null`: the database could not be asked, and a note says why. */
  readonly accounts?: AccountCount | null
}

export interface AccountCount {
  readonly enabled: number
  readonly disabled: number
}

/** `policy names` */
export interface NamesAnswer extends AboutPolicy {
  readonly roles: readonly string[]
  readonly operations: readonly (Call & { readonly from: readonly string[] })[]
}

/** `policy history` */
export interface HistoryEntry {
  readonly id: string
  readonly at: string
  readonly revision: string
  readonly kind: string
  readonly author: string
  /** Who published the proposal of the author. */
  readonly publisher?: string
  readonly message: string
  /** Whose signatures count. */
  readonly signers: readonly string[]
}

export interface Route {
  readonly name?: string
  readonly path: string
  readonly match?: 'prefix' | 'exact'
  readonly hosts?: readonly string[]
  readonly methods?: readonly string[]
  readonly upstream?: string
  readonly access: Access
}

/** A rule that applies to a role, and what it does. */
export interface EffectiveRule extends HeldRule {
  readonly effect: 'allows' | 'partly' | 'outweighed' | 'denies' | 'idle'
  readonly example?: Call
}

/** `policy can` */
export interface CanAnswer extends AboutPolicy {
  readonly roleKey: string
  readonly unrestricted?: 'admin' | { readonly clause: string }
  readonly inherits: readonly string[]
  /** Without a configuration, `route` is absent. */
  readonly routes: readonly { readonly route?: Route; readonly rules: readonly EffectiveRule[] }[]
  readonly unserved: readonly EffectiveRule[]
  readonly ineffective: readonly EffectiveRule[]
}

/** `policy can --compare` */
export interface CompareAnswer extends AboutPolicy {
  readonly roleKey: string
  readonly comparedWith: string
  readonly more: RoleDifferences
  readonly less: RoleDifferences
}

export interface RoleDifferences {
  readonly differences: readonly RoleDifference[]
  readonly isEverything: boolean
}

export interface RoleDifference extends HeldRule {
  readonly isWhole: boolean
  readonly example: Call
  readonly isUnserved: boolean
}

/** `policy unused` */
export interface UnusedAnswer {
  readonly grants: readonly {
    readonly file: string
    readonly line: number
    /** It came after the observation had begun, so its disuse says little. */
    readonly isNew: boolean
  }[]
  readonly notes: readonly string[]
}

/** `policy open` */
export interface OpenAnswer extends AboutPolicy {
  readonly endpoints: readonly (Call & {
    readonly need: Need
    readonly reason: string
    readonly upstream?: string
  })[]
  readonly routes: readonly OpenRoute[]
  readonly exclusions: readonly ExclusionEffect[]
  readonly otherTokens: readonly OtherTokens[] | null
  readonly areRoutesKnown: boolean
}

type Need = 'nothing' | 'identity'

export interface OpenRoute {
  readonly need: Need
  readonly path: string
  readonly reason?: string
  readonly upstream?: string
  readonly except: readonly { readonly path: string; readonly access: Access }[]
}

export interface ExclusionEffect {
  readonly exclusion: Exclusion
  readonly effect: 'whole' | 'partly' | 'none'
  readonly reasons: readonly {
    readonly why: 'refused' | 'unserved' | 'own-endpoint' | 'open-route' | 'earlier-entry'
    readonly path?: string
  }[]
}

export type OtherTokens =
  | { readonly kind: 'service'; readonly maxLifetimeSeconds: number }
  | { readonly kind: 'issuer'; readonly issuer: string; readonly roles: readonly string[] }

/** `policy matrix --compact` */
export interface MatrixAnswer extends AboutPolicy {
  readonly roles: readonly string[]
  /** What the letters mean. */
  readonly cells: Readonly<Record<string, CellWord>>
  readonly operations: readonly MatrixOperation[]
  readonly unserved: readonly Call[]
  /** The gateway refuses these to everyone. */
  readonly refused: readonly Call[]
  readonly routesWithoutRule: readonly string[]
}

export interface MatrixOperation extends Call {
  readonly access: readonly string[]
  /** A letter for each role, in their order. */
  readonly cells: string
}

export type CellWord =
  | 'no'
  | 'allowed'
  | 'inherited'
  | 'superuser'
  | 'everyone'
  | 'partly'
  | 'partly inherited'
  | 'partly everyone'
  | 'denied'
  | 'admin'
/** `user list` */
export interface UserSummary {
  readonly userId: string
  readonly username: string
  /** Empty: the account has no role, and login refuses it. */
  readonly roleKey: string
  readonly enabled: boolean
  readonly kind: 'user' | 'service'
  readonly secondFactor: boolean
}

/** `user show` */
export interface UserAnswer extends UserSummary {
  readonly hasPassword: boolean
  readonly roleName: string
  readonly dataScope: string
  readonly dataScopeName: string | null
  readonly createdAt: string | null
  readonly updatedAt: string | null
  readonly links: readonly {
    readonly provider: string
    readonly subject: string
    readonly seenAt: string | null
  }[]
  readonly oneTimeCodes: {
    readonly enrolledAt: string | null
    readonly recoveryCodesLeft: number
    readonly failures: number
  } | null
  /** `null`: not known now. */
  readonly lockouts: readonly Lockout[] | null
  readonly sessions: number | null
  /** The IDs of other accounts with this name. */
  readonly sameName: readonly string[]
}

/** `role list` */
export interface RoleSummary {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  readonly dataScope: string
  readonly dataScopeName: string | null
  readonly users: { readonly enabled: number; readonly disabled: number }
  readonly services: number
}

/** `role show` */
export interface RoleAnswer extends RoleSummary {
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** The first ones only; compare with the counts. */
  readonly accounts: readonly { readonly username: string; readonly kind: 'user' | 'service' }[]
  /** The IDs of other roles with this key. */
  readonly sameKey: readonly string[]
}

/** `session list` */
export interface SessionsAnswer {
  readonly total: number
  readonly sessions: readonly LiveSession[]
}
export interface LiveSession {
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly address: string
  readonly agent: string
  readonly issuedAt: string
  readonly expiresAt: string
  readonly seenAt: string
}

/** `login list` */
export interface LoginsAnswer {
  readonly since: string
  readonly recording: boolean
  readonly attempts: readonly LoginAttempt[]
  readonly more: boolean
}
export interface LoginAttempt {
  readonly at: string
  /** `null`: it matches no account, and may be a password. */
  readonly username: string | null
  readonly outcome: string | null
  readonly succeeded: boolean
  readonly message: string
  readonly address: string
  readonly userAgent: string
}

/** `login locks` */
export interface LocksAnswer {
  readonly lockouts: readonly Lockout[]
  readonly unreadable: number
}
export interface Lockout {
  readonly kind: string
  readonly username?: string | null
  readonly address?: string
  readonly since: string
  readonly until: string
  readonly attempts: number
}

/** `audit list` */
export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly actor: { readonly kind: string; readonly name: string; readonly origin: string }
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
}

/** `user add` */
export interface AddedUser {
  readonly username: string
  readonly password: string
}

/** `policy status` */
export interface StatusAnswer {
  readonly converged: boolean
  readonly head: { readonly revision: string; readonly author: string } | null
  /** How many signatures a policy needs. */
  readonly signatures: number
  readonly replicas: readonly { readonly lost: boolean; readonly revision?: string }[]
}

/** `policy proposals` */
export interface Proposal {
  readonly revision: string
  readonly state: 'open' | 'approved' | 'stale'
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: string
  readonly over: string | null
  readonly evidence: {
    readonly warnings: number
    readonly tests?: { readonly passed: number; readonly coverage: number }
  }
  readonly signers: readonly string[]
  readonly needed: number
  /** Signatures by untrusted keys. */
  readonly otherSignatures: number
}

/** `policy proposals REVISION` */
export interface ProposalAnswer extends Proposal {
  /** What signatures are about, as exact text. */
  readonly statement: string
  readonly diff?: DiffAnswer
}

/** `policy diff` */
export interface DiffAnswer {
  readonly from: string
  readonly to: string
  readonly widened: boolean
  readonly notes?: readonly string[]
  readonly changes: readonly AccessChange[]
}

export interface AccessChange {
  readonly direction: 'gain' | 'loss'
  readonly severity:
    | 'superuser'
    | 'unchecked'
    | 'wide'
    | 'changing'
    | 'reading'
    | 'uncertain'
    | 'loss'
  readonly cause: string
  readonly line: 'added' | 'removed'
  readonly origin: Origin
  readonly roleKey?: string
  readonly parentKey?: string
  readonly text?: string
  readonly until?: string
  readonly startsAt?: string
  readonly hasEffect: boolean
  readonly shares: readonly ChangeShare[]
}

export interface ChangeShare {
  readonly roleCount: number
  /** Absent for a long list that an earlier share has. */
  readonly roles?: readonly string[]
  readonly grants: readonly {
    readonly methods: readonly string[]
    readonly path: string
    readonly example: Call
  }[]
}

/** `policy shadow` */
export interface ShadowAnswer {
  readonly shadow: {
    readonly revision: string
    readonly author: string
    readonly message: string
    readonly at: string
  } | null
  readonly evaluated?: number
  readonly wouldDeny?: number
  readonly wouldAllow?: number
  readonly failed?: number
  readonly disagreements?: readonly Disagreement[]
}

export interface Disagreement {
  readonly would: 'allow' | 'deny'
  readonly role: string
  readonly method: string
  readonly path?: string
  readonly count: number
}
